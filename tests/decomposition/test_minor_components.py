import numpy as np
import pytest
from sklearn.decomposition import PCA

from transvariation import MinorComponents, load_glass


def test_glass_equals_prcomp_of_r(reference):
    glass = load_glass()
    components = MinorComponents().fit(glass.control)
    for rows, name in [(glass.control, "glass_pc89"), (glass.recovered, "glass_pc89_nontarget")]:
        ours, theirs = components.transform(rows), reference.table(name)
        ours, theirs = ours - ours[0], theirs - theirs[0]  # R's file may be centered elsewhere
        signs = np.sign((ours * theirs).sum(axis=0))
        np.testing.assert_allclose(ours * signs, theirs, atol=1e-8)


@pytest.mark.parametrize("scale", [False, True])
def test_agrees_with_scikit_learn(scale):
    X = load_glass().control.to_numpy()
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) if scale else X
    theirs = PCA().fit(scaled)
    ours = MinorComponents(3, scale=scale).fit(X)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_[-3:], rtol=1e-8)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_[-3:], rtol=1e-8)
    np.testing.assert_allclose(np.abs(ours.components_ @ theirs.components_[-3:].T), np.eye(3), atol=1e-8)
    np.testing.assert_allclose(ours.transform(X).var(axis=0, ddof=1), ours.explained_variance_, rtol=1e-8)


def test_names_numbers_and_signs():
    components = MinorComponents(3).fit(load_glass().control)
    assert components.get_feature_names_out().tolist() == ["PC7", "PC8", "PC9"]
    assert components.numbers_.tolist() == [7, 8, 9]
    table = components.loadings()
    assert table.index.tolist() == load_glass().control.columns.tolist()
    assert table.columns.tolist() == ["PC7", "PC8", "PC9"]
    largest = np.abs(components.components_).argmax(axis=1)
    assert (components.components_[range(3), largest] > 0).all()


def test_more_variables_than_objects_stays_out_of_the_null_space(spectra):
    components = MinorComponents().fit(spectra)
    assert components.get_feature_names_out().tolist() == ["PC58", "PC59"]
    assert (components.explained_variance_ > 1e-4).all()
    # Loadings are combinations of the training rows: nothing of them lies where no object varies.
    rows = spectra - spectra.mean(axis=0)
    inside = components.components_ @ np.linalg.pinv(rows) @ rows
    np.testing.assert_allclose(inside, components.components_, atol=1e-8)


def test_a_share_of_variance_is_left_out(spectra):
    components = MinorComponents(leave_out=0.005).fit(spectra)
    # What is left is the six kinds of curves; the noise has gone.
    assert components.get_feature_names_out().tolist() == ["PC5", "PC6"]
    ratio = PCA().fit(spectra).explained_variance_ratio_
    assert ratio[6:].sum() <= 0.005 < ratio[5:].sum()


def test_constant_duplicated_and_mostly_zero_variables():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 50))
    rare = np.where(rng.random(50) < 0.9, 0.0, 1.0)
    X = np.column_stack([x, x, y, np.full(50, 0.1), np.full(50, 1e6 + 0.1), rare])
    components = MinorComponents(3).fit(X)
    assert components.numbers_.tolist() == [1, 2, 3]
    np.testing.assert_allclose(components.components_[:, 3:5], 0, atol=1e-12)
    np.testing.assert_allclose(components.components_[:, 0], components.components_[:, 1], atol=1e-10)
    with pytest.raises(ValueError, match=r"exceeds the 3 principal components .* use at most 3"):
        MinorComponents(4).fit(X)
    assert MinorComponents(3, scale=True).fit(X).numbers_.tolist() == [1, 2, 3]


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("value", [202401150930.0, 1.7e18])
def test_a_large_constant_hides_no_component(value, scale):
    X = load_glass().control
    components, expected = (MinorComponents(scale=scale).fit(A) for A in (X.assign(batch=value), X))
    assert components.numbers_.tolist() == [8, 9]
    np.testing.assert_allclose(components.components_[:, :9], expected.components_, atol=1e-9)


def test_one_and_two_variables():
    X = np.array([[1.0], [2.0], [4.0]])
    np.testing.assert_allclose(MinorComponents(1).fit_transform(X), X - X.mean(), atol=1e-15)
    Y = np.random.default_rng(0).standard_normal((20, 2))
    rotated = MinorComponents(2).fit_transform(Y)
    distance = np.linalg.norm(Y - Y.mean(axis=0), axis=1)
    np.testing.assert_allclose(np.linalg.norm(rotated, axis=1), distance, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 3}, "n_components=3 exceeds .* n_features=2"),
        ({"leave_out": 1.0}, "leave_out=1.0 must be a share of variance"),
        ({"leave_out": 0.9}, "exceeds the 1 principal components .*leave_out=0.9.* or leave out less"),
    ],
)
def test_impossible_requests(options, message):
    X = np.random.default_rng(0).standard_normal((20, 2)) * [10, 1]
    with pytest.raises(ValueError, match=message):
        MinorComponents(**options).fit(X)


def test_all_objects_alike():
    with pytest.raises(ValueError, match="exceeds the 0 principal components"):
        MinorComponents(1).fit(np.full((5, 3), 0.1))
