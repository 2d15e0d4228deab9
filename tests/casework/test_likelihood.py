"""Likelihood ratios: known answers, bounds, refusals."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from transvariation.casework import CaseResult, judge
from transvariation.casework.likelihood_ratio import LikelihoodSystem, TwoLevel, by_source, cllr, in_words, make_pairs
from transvariation.report.case import case_html
from transvariation.tables import TableError

pytest.importorskip("lir")

N_SOURCES, WITHIN = 120, 0.1


@pytest.fixture(scope="module")
def background():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(N_SOURCES, 2))
    sources = np.repeat(np.arange(N_SOURCES), 4)
    return means[sources] + WITHIN * rng.normal(size=(len(sources), 2)), sources


@pytest.fixture(scope="module")
def system(background):
    return LikelihoodSystem(n_pairs=400).fit(*background)


def _sets(seed, n=60, replicates=4):
    rng = np.random.default_rng(seed)
    return {i: rng.normal(size=2) + WITHIN * rng.normal(size=(replicates, 2)) for i in range(n)}


def test_the_two_level_model_approaches_the_truth(background):
    # Truth: normal within, normal between, both known. A kernel density between sources only smooths it.
    model = TwoLevel().fit(*background)
    pairs = make_pairs(_sets(1), n_pairs=60)
    few = slice(0, 40)
    found = model.log10_lr(pairs.first[few], pairs.second[few])
    truth = []
    for a, b in zip(pairs.first[few], pairs.second[few], strict=True):
        x, y = a.mean(axis=0), b.mean(axis=0)
        vx, vy = WITHIN**2 / len(a), WITHIN**2 / len(b)
        eye = np.eye(2)
        joint = np.block([[(1 + vx) * eye, eye], [eye, (1 + vy) * eye]])
        same = multivariate_normal(np.zeros(4), joint).logpdf(np.concatenate([x, y]))
        apart = multivariate_normal(np.zeros(2), (1 + vx) * eye).logpdf(x)
        apart += multivariate_normal(np.zeros(2), (1 + vy) * eye).logpdf(y)
        truth.append((same - apart) / np.log(10))
    assert np.median(np.abs(found - truth)) < 0.25


def test_unseen_pairs_are_told_apart_within_the_bounds(system):
    pairs = make_pairs(_sets(2), n_pairs=400, seed=3)
    for name, ratios in system.log10_lr(pairs.first, pairs.second).items():
        low, high = system.bounds_[name]
        assert ratios.min() >= low
        assert ratios.max() <= high
        assert cllr(ratios, pairs.same) < 0.35
        assert np.mean(ratios[pairs.same] > 0) > 0.9
        assert np.mean(ratios[~pairs.same] < 0) > 0.9


@pytest.mark.parametrize(
    ("log10_lr", "words"),
    [
        (0.2, "no support for either proposition"),
        (0.9, "weak support for a common source"),
        (-3.5, "strong support for different sources"),
        (7.0, "extremely strong support for a common source"),
    ],
)
def test_the_verbal_scale(log10_lr, words):
    assert in_words(log10_lr) == words


def test_too_small_a_background_is_refused(background):
    X, sources = background
    with pytest.raises(ValueError, match="at least 30"):
        LikelihoodSystem().fit(X[:40], sources[:40])


def test_a_case_with_a_background_gets_ratios(background, system, monkeypatch):
    monkeypatch.setattr(LikelihoodSystem, "fit", lambda self, X, sources: system)  # the fit is tested above
    X, sources = background
    table = pd.DataFrame(X, columns=["a", "b"]).assign(source=[f"s{i}" for i in sources])
    mine = by_source(X, sources)
    control = pd.DataFrame(np.repeat(mine[0], 5, axis=0), columns=["a", "b"])
    control += 0.01 * np.random.default_rng(0).normal(size=control.shape)
    recovered = pd.DataFrame(np.vstack([mine[0][:1], mine[1][:1]]), columns=["a", "b"], index=["same", "other"])
    result = judge(control, recovered, background=table)
    ratios = {ratio.id: ratio for ratio in result.likelihood_ratios}
    assert ratios["same"].two_level > 0 > ratios["other"].two_level
    assert ratios["same"].score_based > 0 > ratios["other"].score_based
    with pytest.raises(ValueError, match="names the source"):
        judge(control, recovered, background=table.drop(columns="source"))


def test_ratios_come_in_the_order_of_the_verdicts(background, system, monkeypatch):
    monkeypatch.setattr(LikelihoodSystem, "fit", lambda self, X, sources: system)  # the fit is tested above
    X, sources = background
    control, recovered = (pd.DataFrame(rows, columns=["a", "b"]) for rows in (X[:20], X[20:32]))
    recovered.index = [str(i) for i in range(1, 13)]
    result = judge(control, recovered, background=pd.DataFrame(X, columns=["a", "b"]).assign(source=sources))
    assert [ratio.id for ratio in result.likelihood_ratios] == [verdict.id for verdict in result.verdicts]
    assert {type(ratio.id) for ratio in result.likelihood_ratios} == {str}


def test_the_order_of_rows_in_the_background_does_not_matter(background):
    X, sources = background
    rows = np.arange(60 * 4)
    shuffled = np.concatenate([rows[sources[rows] == i] for i in np.random.default_rng(0).permutation(60)])
    first, second = (LikelihoodSystem(n_pairs=60).fit(X[r], sources[r]).bounds_ for r in (rows, shuffled))
    assert first == second


def test_a_background_is_matched_by_name_and_unit(background, monkeypatch):
    seen = []

    def fit(self, X, sources):
        seen.append(X)
        raise ValueError("that is all")

    monkeypatch.setattr(LikelihoodSystem, "fit", fit)
    X, sources = background
    case = [pd.DataFrame(X[:20], columns=["a (ppm)", "b"])] * 2
    same = pd.DataFrame(X, columns=["a (ppm)", "b"]).assign(source=sources)
    both = same.assign(**{"a (wt%)": 9.0})[["source", "b", "a (wt%)", "a (ppm)"]]
    for table in (same, same[["source", "b", "a (ppm)"]], both):
        with pytest.raises(ValueError, match="that is all"):
            judge(*case, background=table)
        np.testing.assert_array_equal(seen.pop(), X)


def test_what_replicates_say_nothing_about_is_left_out_of_the_ratios(background, monkeypatch):
    X, sources = (part[:160] for part in background)
    rare = np.where(np.arange(160) == 5, 0.1, 0.0)  # seen in one replicate of one source
    wide = np.column_stack([X[:, 0], np.full(160, 0.1), X[:, 1], sources / 7, rare])
    narrow = LikelihoodSystem(n_pairs=60).fit(X, sources)
    system = LikelihoodSystem(n_pairs=60, names=["a", "Z", "b", "between", "rare"]).fit(wide, sources)
    assert system.bounds_ == narrow.bounds_
    assert system.left_out_ == ["Z", "between", "rare"]
    monkeypatch.setattr(LikelihoodSystem, "fit", lambda self, X, sources: system)
    control, recovered = (pd.DataFrame(rows, columns=system.names) for rows in (wide[:12], wide[12:18]))
    result = judge(control, recovered, background=pd.DataFrame(wide, columns=system.names).assign(source=sources))
    assert any("ratios leave out Z, between, rare" in warning for warning in result.warnings)
    expected = narrow.weigh(X[:12], {str(i): X[12 + i : 13 + i] for i in range(6)})
    assert [r.two_level for r in result.likelihood_ratios] == pytest.approx([r.two_level for r in expected])
    assert [r.score_based for r in result.likelihood_ratios] == pytest.approx([r.score_based for r in expected])


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_variables_that_determine_each_other_are_named(background, offset):
    X, sources = background
    c = np.random.default_rng(1).normal(size=len(X))
    for other, told in ((X[:, 0], "a, d"), (offset + 3 * X[:, 1], "b, d"), (100 - X.sum(axis=1) - c, "a, b, c, d")):
        system = LikelihoodSystem(names=list("abcd"))
        with pytest.raises(ValueError, match=rf"background {told} determine each other, .* \(features, --features\)"):
            system.fit(np.column_stack([X, c, other]), sources)


def test_a_background_that_cannot_serve_says_why():
    rng = np.random.default_rng(0)
    sources = np.repeat(np.arange(40), 2)
    with pytest.raises(ValueError, match="20 replicates beyond the first of each source, too few for 21 variables"):
        LikelihoodSystem().fit(rng.normal(size=(80, 21)), sources)
    with pytest.raises(ValueError, match="in no variable"):
        LikelihoodSystem().fit(rng.normal(size=(40, 3))[sources], sources)


def test_neither_the_order_of_the_columns_nor_their_units_matter():
    rng = np.random.default_rng(5)
    mixing = rng.normal(size=(3, 3))
    sources = np.repeat(np.arange(40), 4)
    X = 3 * rng.normal(size=(40, 3))[sources] + rng.normal(size=(160, 3)) @ mixing
    pairs = make_pairs({i: 3 * rng.normal(size=3) + rng.normal(size=(4, 3)) @ mixing for i in range(30)}, n_pairs=30)
    order, units = [2, 0, 1], np.array([1.0, 1e-3, 1e4])
    found = LikelihoodSystem(n_pairs=200).fit(X, sources).log10_lr(pairs.first, pairs.second)
    turned = LikelihoodSystem(n_pairs=200).fit((X * units)[:, order], sources)
    again = turned.log10_lr(*([(x * units)[:, order] for x in side] for side in (pairs.first, pairs.second)))
    np.testing.assert_allclose(again["score_based"], found["score_based"], atol=1e-6)


@pytest.fixture(scope="module")
def weighed(background, tmp_path_factory):
    X, sources = background
    path = tmp_path_factory.mktemp("weighed") / "windows.csv"
    table = pd.DataFrame(X, columns=["A (ppm)", "B"]).assign(source=sources).astype({"B": object})
    table.loc[0, "B"] = ""
    table.to_csv(path, index=False)
    rng = np.random.default_rng(5)
    control, recovered = (pd.DataFrame(WITHIN * rng.normal(size=(n, 2)), columns=["A (ppm)", "B"]) for n in (12, 2))
    return control, recovered, path


def test_the_report_says_which_background_was_used(weighed, system, monkeypatch):
    monkeypatch.setattr(LikelihoodSystem, "fit", lambda self, X, sources: system)  # the fit is tested above
    control, recovered, path = weighed
    result = judge(control, recovered, background=path, missing="drop")
    assert result.background["sources"] == N_SOURCES
    assert result.background["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(result.background["dropped"]) == 1
    page = case_html(result)
    for told in (path.name, result.background["sha256"], "left out: missing"):
        assert told in page
    assert CaseResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_a_background_in_other_units_is_refused(weighed):
    control, recovered, path = weighed
    with pytest.raises(TableError, match="the unit is 'ppm' here but 'wt%' in control"):
        judge(
            *(table.rename(columns={"A (ppm)": "A (wt%)"}) for table in (control, recovered)),
            background=path,
            missing="drop",
        )
