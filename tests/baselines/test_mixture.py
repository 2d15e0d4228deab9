import numpy as np
import pytest

from transvariation.baselines import MixtureOCC


def test_scores_are_the_log_density_of_mclusts_choice(reference):
    case = reference.case("case02_mclust")["glass_k_mg"]
    rule = MixtureOCC().fit(reference.table("glass_k_mg"))
    assert (rule.mixture_.model_name_, rule.mixture_.n_components_) == (case["model"], case["G"])
    # EM stops a little earlier or later than mclust's.
    assert rule.score_samples(reference.table("glass_k_mg")).sum() == pytest.approx(case["loglik"], abs=0.05)


def test_an_object_is_rated_the_same_alone_and_in_company():
    X = np.random.default_rng(0).normal(size=(200, 2))
    rule = MixtureOCC(n_components=9, models=["EII"]).fit(X)
    alone = [rule.score_samples(x[None])[0] for x in X]
    assert np.array_equal(alone, rule.score_samples(X))
