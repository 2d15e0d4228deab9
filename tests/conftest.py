"""Where the tests find numbers that nobody here computed."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

# A busy machine may take a second over what needs a millisecond; that is no defect of ours.
settings.register_profile("patient", deadline=None)
settings.register_profile("fuzz", deadline=None, max_examples=5_000)
settings.load_profile("patient")

REFERENCE = Path(__file__).parent / "reference"

# Files whose tests take several seconds together; `make check` leaves them out.
SLOW = [
    "casework/background/test_likelihood_ratio.py",
    "casework/background/test_model.py",
    "casework/background/test_same_source.py",
    "casework/background/test_transfer.py",
    "casework/test_foreign.py",
    "casework/test_judging.py",
    "casework/test_result.py",
    "casework/test_spectra.py",
    "casework/test_validation.py",
    "casework/themes/test_bad_situations.py",
    "dask/test_classifiers.py",
    "dask/themes/test_dask.py",
    "density/test_compiled.py",
    "depth/test_counting.py",
    "report/test_case.py",
    "report/test_case_appendices.py",
    "report/test_glass.py",
    "report/test_demo.py",
    "report/test_page.py",
    "report/test_simulation.py",
    "report/test_study.py",
    "report/test_validation.py",
    "studies/test_glass.py",
    "studies/test_simulation.py",
    "tables/themes/test_hostile.py",
    "test_acceleration.py",
    "test_calibrated.py",
    "test_certificate.py",
    "test_cli.py",
    "test_false_discoveries.py",
    "test_model_archive.py",
    "test_neighbor_tocc.py",
    "test_open_set.py",
    "test_persistence.py",
    "test_projection_ensemble.py",
    "themes/test_docs.py",
    "themes/test_interfaces.py",
    "themes/test_invariances.py",
    "web/test_app.py",
    "web/test_connection.py",
    "web/test_monitoring.py",
    "web/test_preview.py",
    "web/test_views.py",
    "web/test_worker.py",
    "web/test_workers.py",
    "web/themes/test_front_ends.py",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files, and scikit-learn's estimator checks."""
    here = Path(__file__).parent
    for item in items:
        name = item.path.relative_to(here).as_posix() if item.path.is_relative_to(here) else ""
        if name in SLOW or item.name.startswith("test_scikit_learn_contract["):
            item.add_marker(pytest.mark.slow)


class Reference:
    """Values computed by R and the data they were computed from; see reference/README.md."""

    @staticmethod
    def case(name: str) -> dict:
        return json.loads((REFERENCE / f"{name}.json").read_text())

    @staticmethod
    def table(name: str) -> np.ndarray:
        return np.loadtxt(REFERENCE / "data" / f"{name}.csv", delimiter=",", skiprows=1, ndmin=2)


@pytest.fixture
def rng() -> np.random.Generator:
    """Give each test numbers of its own, whatever ran before."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def reference() -> Reference:
    return Reference()


@pytest.fixture(scope="session")
def small_study(tmp_path_factory) -> Callable[[int], pd.DataFrame]:
    """Run a small simulation study by a number of processes, once for each number."""
    from transvariation.studies.simulation import Study

    @cache
    def run(jobs: int) -> pd.DataFrame:
        study = Study(scenarios="ai", sizes=(60,), shifts=(1.0,), repeats=2, jobs=jobs)
        checkpoint = study.checkpoint(tmp_path_factory.mktemp("study"))
        list(study.run(checkpoint))
        return study.table(checkpoint).drop(columns="seconds")

    return run
