import numpy as np
import pytest

from transvariation.baselines import MixtureOCC


def test_scores_are_the_log_density_of_mclusts_choice(reference):
    case = reference.case("case02_mclust")["glass_k_mg"]
    classifier = MixtureOCC().fit(reference.table("glass_k_mg"))
    assert (classifier.mixture_.model_name_, classifier.mixture_.n_components_) == (case["model"], case["G"])
    # EM stops a little earlier or later than mclust's.
    assert classifier.score_samples(reference.table("glass_k_mg")).sum() == pytest.approx(case["loglik"], abs=0.05)


def test_scores_do_not_depend_on_the_batch():
    X = np.random.default_rng(0).normal(size=(200, 2))
    classifier = MixtureOCC(n_components=9, models=["EII"]).fit(X)
    alone = [classifier.score_samples(x[None])[0] for x in X]
    assert np.array_equal(alone, classifier.score_samples(X))
