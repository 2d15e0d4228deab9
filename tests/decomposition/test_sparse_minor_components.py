import numpy as np
import pytest
from sklearn.linear_model import ElasticNet

from transvariation import MinorComponents, SparseMinorComponents, load_glass
from transvariation.decomposition.minor_components import principal_spectrum
from transvariation.decomposition.sparse_minor_components import sparse_path


@pytest.mark.parametrize("step", [0.2, 0.5, 0.9])
def test_path_is_that_of_the_elastic_net(step):
    """Against coordinate descent on the scaled data themselves, at penalties of the path."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6)) @ rng.standard_normal((6, 6))
    spectrum = principal_spectrum(X)
    direction, variance, ridge = spectrum.loadings[-1], spectrum.variance[-1], 0.1
    path = sparse_path(np.cov(X.T), direction, ridge=ridge)
    at = int(step * (len(path.penalty) - 2))
    # The same target function in scikit-learn's units: 1/(2n) |y - Xb|^2 + alpha r |b|_1 + alpha (1 - r)/2 |b|^2.
    scaled = (X - X.mean(axis=0)) * np.sqrt(60 / 59 / variance)
    l1 = path.penalty[at] * np.abs(np.cov(X.T) @ direction / variance).max()
    net = ElasticNet(alpha=l1 + ridge, l1_ratio=l1 / (l1 + ridge), fit_intercept=False, tol=1e-13, max_iter=1_000_000)
    np.testing.assert_allclose(path.coefficients[at], net.fit(scaled, scaled @ direction).coef_, atol=1e-7)


def test_no_penalty_gives_the_dense_components():
    X = load_glass().control
    dense, sparse = MinorComponents(3).fit(X), SparseMinorComponents(3, penalty=0.0).fit(X)
    np.testing.assert_allclose(np.abs(np.sum(dense.components_ * sparse.components_, axis=1)), 1, rtol=1e-9)
    np.testing.assert_allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-6)


def test_the_largest_penalty_leaves_one_variable_each():
    sparse = SparseMinorComponents(penalty=1.0).fit(load_glass().control)
    assert np.count_nonzero(sparse.components_, axis=1).tolist() == [1, 1]
    assert sparse.loadings().abs().idxmax().tolist() == ["Ba", "RI"]


def test_the_default_penalty_on_glass():
    """The fewest variables whose variance is nearer to that of the dense component than to the next larger one."""
    X = load_glass().control
    variance = np.linalg.eigvalsh(np.cov(X.to_numpy().T))[::-1]
    sparse = SparseMinorComponents().fit(X)
    assert sparse.get_feature_names_out().tolist() == ["SPC8", "SPC9"]
    for j, path, chosen in zip([7, 8], sparse.paths_, sparse.components_, strict=True):
        bound = np.sqrt(path.variance[-1] * variance[j - 1])
        n_chosen = np.count_nonzero(chosen)
        assert chosen @ np.cov(X.to_numpy().T) @ chosen <= bound
        fewer = path.n_nonzero < n_chosen
        assert (path.variance[fewer] > bound).all()
        assert fewer.any() or n_chosen == 1
    np.testing.assert_allclose(np.linalg.norm(sparse.components_, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(sparse.transform(X).var(axis=0, ddof=1), sparse.explained_variance_, rtol=1e-8)


def test_the_whole_path_as_a_table():
    sparse = SparseMinorComponents().fit(load_glass().control)
    table = sparse.path_table()
    assert table.columns.tolist() == ["component", "penalty", "variables", "variance", *load_glass().control.columns]
    for _, path in table.groupby("component"):
        assert path["penalty"].is_monotonic_decreasing
        assert path["penalty"].iloc[-1] == 0
        assert path["variables"].iloc[0] == 1
        np.testing.assert_allclose(np.linalg.norm(path.iloc[:, 4:], axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("penalty", [0.3, 0.999])
def test_a_penalty_between_two_steps(penalty):
    sparse = SparseMinorComponents(penalty=penalty).fit(load_glass().control)
    for path, chosen in zip(sparse.paths_, sparse.components_, strict=True):
        after = int(np.searchsorted(-path.penalty, -penalty))
        assert np.count_nonzero(chosen) <= np.count_nonzero(path.coefficients[after])


def test_more_variables_than_objects(spectra, fresh_spectra):
    """Few variables, and about as tight on fresh spectra: no accident of the null space."""
    sparse = SparseMinorComponents().fit(spectra)
    assert (np.count_nonzero(sparse.components_, axis=1) <= 20).all()
    assert (sparse.explained_variance_ > 0).all()
    fresh = sparse.transform(fresh_spectra).var(axis=0)
    assert (fresh < 3 * sparse.explained_variance_).all()
    assert abs(sparse.components_[0] @ sparse.components_[1]) <= 0.5


def test_components_do_not_collapse():
    """Two variables alike in variance and correlated: both components have loadings of equal size in both."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 200))
    sparse = SparseMinorComponents(2).fit(np.column_stack([x + y / 2, x - y / 2]))
    assert np.linalg.matrix_rank(sparse.components_) == 2
    assert abs(sparse.components_[0] @ sparse.components_[1]) <= 0.5


def test_constant_and_duplicated_variables():
    rng = np.random.default_rng(0)
    x, y, z = rng.standard_normal((3, 50)) * [[3.0], [1.0], [0.1]]
    X = np.column_stack([x, x, y, y, z, np.full(50, 7.0)])
    sparse = SparseMinorComponents(2).fit(X)
    assert (sparse.components_[:, 5] == 0).all()
    assert (sparse.explained_variance_ > 0.001).all()
    with pytest.raises(ValueError, match="exceeds the 3 principal components"):
        SparseMinorComponents(4).fit(X)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_extreme_units_are_as_sparse(unit):
    X = load_glass().control
    one, other = (SparseMinorComponents().fit(A).components_ for A in (X, X * unit))
    np.testing.assert_allclose(other, one, atol=1e-6)


def test_one_variable():
    assert SparseMinorComponents(1).fit([[1.0], [2.0], [4.0]]).components_.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "strong"}, "penalty='strong' must be 'nearer' or a share"),
        ({"penalty": 1.5}, "penalty=1.5 must be"),
        ({"ridge": 0.0}, "ridge=0.0 must be positive"),
        ({"n_components": 10}, "n_components=10 exceeds .* n_features=9"),
    ],
)
def test_impossible_requests(options, message):
    with pytest.raises(ValueError, match=message):
        SparseMinorComponents(**options).fit(load_glass().control)
