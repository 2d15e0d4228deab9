import numpy as np
import pytest

from transvariation.baselines import KMeansOCC

NAMES = [
    *("glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2"),
    *("glass_na_mg_al3", "blobs3", "glass9", "gauss9"),
]


@pytest.mark.parametrize("name", NAMES)
def test_300_starts_are_as_good_as_the_best_of_100_in_r(reference, name):
    best = reference.case("case08_som_kmeans")[name]["kmeans"]["best_objective"]
    assert KMeansOCC(n_init=300, random_state=0).fit(reference.table(name)).inertia_ <= 1.001 * best


def test_distances_of_r(reference):
    case = reference.case("case08_som_kmeans")["glass_k_mg"]["kmeans"]
    classifier = KMeansOCC(random_state=0).fit(reference.table("glass_k_mg"))
    assert classifier.centers_[np.lexsort(classifier.centers_.T[::-1])] == pytest.approx(np.array(case["centres"]))
    assert -classifier.score_samples(reference.table("glass_k_mg_query")) == pytest.approx(case["query_distance"])
    assert sorted(np.bincount(classifier.labels_)) == sorted(case["sizes"])


def test_fewer_distinct_objects_than_centers():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], 5, axis=0)
    classifier = KMeansOCC().fit(X)
    assert len(classifier.centers_) == 3
    assert classifier.inertia_ == 0
    assert classifier.predict([[0.0, 0.0], [0.5, 0.5]]).tolist() == [1, -1]


def test_impossible_number():
    with pytest.raises(ValueError, match="n_clusters=0 must be at least 1"):
        KMeansOCC(n_clusters=0).fit(np.eye(5))
