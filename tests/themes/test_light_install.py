"""`fit` and `predict` need no library of reports: an estimator fits into a small service."""

import subprocess
import sys

import pytest

REPORT_LIBRARIES = ("click", "jinja2", "matplotlib", "rich", "skops")

CODE = f"""
import sys
from importlib.abc import MetaPathFinder
from transvariation import NeighborTOCC

# scikit-learn itself may import rich if it is installed.
assert [name for name in {REPORT_LIBRARIES!r} if name != "rich" and name in sys.modules] == []

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {REPORT_LIBRARIES!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())

import numpy as np
from sklearn.neighbors import LocalOutlierFactor
from transvariation import CalibratedOCC, DensityTOCC

X = np.random.default_rng(0).normal(size=(60, 3))
new = [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]
for classifier in (NeighborTOCC(), DensityTOCC(density="gaussian"), CalibratedOCC(LocalOutlierFactor(novelty=True))):
    assert classifier.fit(X).predict(new).tolist() == [1, -1]
    assert classifier.p_values(new)[1] < 0.1
    assert classifier.coverage_report().n > 0
"""


@pytest.mark.slow
def test_classifiers_neither_import_nor_need_the_libraries_of_reports():
    subprocess.run([sys.executable, "-c", CODE], check=True)
