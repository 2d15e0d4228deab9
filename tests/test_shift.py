"""Another population or instrument: weights and recalibration keep the rate."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from transvariation import PAMTOCC, TOCC, CalibratedOCC, NeighborTOCC, density_ratio
from transvariation.conformal import p_values, weighted_p_values
from transvariation.exceptions import DuplicatedSamples, NoGuarantee, SmallOverlap, TooFewSamples


def test_equal_weights_give_the_usual_p_values():
    rng = np.random.default_rng(0)
    calibration, scores = rng.normal(size=50), rng.normal(size=20)
    np.testing.assert_allclose(
        weighted_p_values(calibration, scores, np.full(50, 3.0), np.full(20, 3.0)), p_values(calibration, scores)
    )


def test_weighted_p_values_by_hand():
    # scores 1, 2, 3 with weights 4, 2, 1; a score of 2 with weight 3: (4 + 2 + 3) / (7 + 3)
    assert weighted_p_values([1, 2, 3], [2], [4, 2, 1], [3])[0] == pytest.approx(0.9)


def test_weighted_p_values_are_those_of_nonconform():
    """`calculate_weighted_p_val` of nonconform 2.0.0, with ties by "classical"."""
    p = weighted_p_values(
        [0.1, 0.2, 0.3, 0.4, 0.4, 0.9], [0.05, 0.4, 0.35, 0.95], [1, 2, 0.5, 0, 3, 1.5], [1, 0.25, 2, 4]
    )
    np.testing.assert_allclose(p, [0.111111111111, 0.818181818182, 0.55, 1.0], rtol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.SmallOverlap")  # of a draw whose ratios are extreme
def test_known_and_estimated_ratios_keep_the_rate_under_a_shift():
    rng, shift, shares = np.random.default_rng(1), 1.0, []
    for _ in range(40):
        known, new = rng.normal(size=(300, 2)), rng.normal([shift, 0], 1, size=(200, 2))
        classifier = NeighborTOCC(calibration="split").fit(known)
        exact = [norm.pdf(x[:, 0], shift) / norm.pdf(x[:, 0]) for x in (known, new)]
        shares.append(
            [
                np.mean(p <= 0.1)
                for p in (
                    classifier.p_values(new),
                    classifier.p_values(new, weights=exact),
                    classifier.p_values(new, weights=density_ratio(known, new)),
                )
            ]
        )
    plain, exact, estimated = np.mean(shares, axis=0)
    assert plain > 0.15
    assert exact <= 0.1 + 0.02
    assert estimated <= 0.1 + 0.03


def test_too_little_overlap_is_said():
    rng = np.random.default_rng(2)
    with pytest.warns(SmallOverlap, match=r"300 known samples are worth \d"):
        density_ratio(rng.normal(size=(300, 2)), rng.normal(6, 1, size=(100, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("align", [None, "mean"])
def test_few_samples_of_another_instrument_restore_the_rate(align):
    shares, found = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        known, other = rng.normal(size=(200, 2)), rng.normal(3, 1, size=(320, 2))
        classifier = NeighborTOCC().fit(known)
        assert np.mean(classifier.predict(other) == -1) > 0.9
        classifier.recalibrate(other[:20], align=align)
        shares.append(np.mean(classifier.predict(other[20:]) == -1))
        found.append(np.mean(classifier.predict(other[20:] + [3, -3]) == -1))
    assert np.mean(shares) <= 0.1 + 2.5 * np.std(shares) / np.sqrt(40)
    if align == "mean":
        assert np.mean(found) > 0.85  # 0.5 without alignment


def test_recalibration_counts_items_and_says_what_holds():
    rng = np.random.default_rng(3)
    classifier = NeighborTOCC().fit(rng.normal(size=(80, 2)))
    items = np.repeat(rng.normal(1, 1, size=(15, 2)), 3, axis=0) + 0.1 * rng.normal(size=(45, 2))
    report = classifier.recalibrate(items, groups=np.repeat(np.arange(15), 3)).coverage_report()
    assert (report.n, report.unit, report.calibration) == (15, "groups", "split")
    assert classifier.recalibrate(items, align="mean").coverage_report().calibration == "loo"
    refitted = classifier.fit(rng.normal(size=(80, 2)))
    np.testing.assert_array_equal(refitted.score_samples(items), refitted.recalibrate(items).score_samples(items))
    with pytest.warns(DuplicatedSamples, match=r"100% of the samples equal one that the classifier was fitted to"):
        classifier.recalibrate(refitted.sample_)
    with pytest.raises(ValueError, match="align='median' is unknown"):
        classifier.recalibrate(items, align="median")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.recalibrate(items[:5])
    assert any(each.category is TooFewSamples for each in caught)


def test_invalid_weights_are_refused():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 2))
    classifier = NeighborTOCC().fit(X)
    with pytest.raises(ValueError, match="not one for each training sample"):
        classifier.p_values(X[:3], weights=(np.ones(30), np.ones(3)))
    with pytest.raises(ValueError, match=r"new_weights must be finite numbers of at least 0, not -1\.0"):
        classifier.p_values(X[:3], weights=(np.ones(40), [1, 1, -1]))
    for zero in (np.zeros(3), np.ones(3)):
        with pytest.raises(ValueError, match="weights are all 0: no known sample counts"):
            classifier.p_values(X[:3], weights=(np.zeros(40), zero))
    for wrong in (1, np.ones(40)):
        with pytest.raises(ValueError, match=r"weights must be a density_ratio\(known, new\), or a pair of arrays"):
            classifier.p_values(X[:3], weights=wrong)
    with pytest.raises(ValueError, match="not one for each training sample"):
        classifier.p_values(X[:3], weights=(np.ones(41), np.ones(3)))
    with pytest.raises(ValueError, match="give the same features"):
        density_ratio(X, X[:, :1])
    table = pd.DataFrame(X, columns=["a", "b"])
    with pytest.raises(ValueError, match="new has 'b' where known has 'a'"):
        density_ratio(table, table[["b", "a"]])
    with pytest.warns(NoGuarantee):
        TOCC().fit(X).p_values(X[:3], weights=(np.ones(40), np.ones(3)))
    clusters = np.concatenate([X, X + 50])
    with pytest.raises(ValueError, match="one threshold"):
        PAMTOCC(2).fit(clusters).p_values(X, weights=(np.ones(80), np.ones(40)))


def test_alignment_takes_tables_gaps_and_categories():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    moved = table[:15] + 3
    aligned = CalibratedOCC(NeighborTOCC()).fit(table).recalibrate(moved, align="mean")
    plain = CalibratedOCC(NeighborTOCC()).fit(table.to_numpy()).recalibrate(moved.to_numpy(), align="mean")
    np.testing.assert_array_equal(aligned.p_values(moved), plain.p_values(moved.to_numpy()))
    gaps = table.mask(rng.random(table.shape) < 0.2)
    p = NeighborTOCC().fit(gaps).recalibrate(gaps[:15] + 3, align="mean").p_values(gaps + 3)
    assert np.median(p) > 0.3  # an offset that is not a number would leave no value
    kinds = table.assign(kind=pd.Categorical(rng.choice(["u", "v"], 60)))
    classifier = NeighborTOCC().fit(kinds)
    classifier.recalibrate(kinds[:15].assign(a=kinds["a"][:15] + 3), align="mean")
    assert classifier._alignment[2] == 0
    with pytest.raises(ValueError, match="align='mean' needs at least 2 new samples"):
        classifier.recalibrate(kinds[:1], align="mean")
