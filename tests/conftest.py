"""Where the tests find numbers that nobody here computed."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# A busy machine may take a second over what needs a millisecond; that is no defect of ours.
settings.register_profile("patient", deadline=None)
settings.register_profile("fuzz", deadline=None, max_examples=5_000)
settings.load_profile("patient")

REFERENCE = Path(__file__).parent / "reference"


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
