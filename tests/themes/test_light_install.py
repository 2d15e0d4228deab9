"""`fit` and `predict` need no library of reports: an estimator fits into a small service."""

import subprocess
import sys

REPORT_LIBRARIES = ("click", "jinja2", "matplotlib", "rich", "skops")

CODE = f"""
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {REPORT_LIBRARIES!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())

import numpy as np
from sklearn.neighbors import LocalOutlierFactor
from transvariation import CalibratedOCC, DensityTOCC, NeighborTOCC

X = np.random.default_rng(0).normal(size=(60, 3))
new = [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]
for classifier in (NeighborTOCC(), DensityTOCC(density="gaussian"), CalibratedOCC(LocalOutlierFactor(novelty=True))):
    assert classifier.fit(X).predict(new).tolist() == [1, -1]
    assert classifier.p_values(new)[1] < 0.1
    assert classifier.coverage_report().n > 0
"""


def test_classifiers_work_without_the_libraries_of_reports():
    subprocess.run([sys.executable, "-c", CODE], check=True)


def test_importing_the_recommended_classifier_imports_no_library_of_reports():
    code = "import sys; from transvariation import NeighborTOCC; print([m for m in sys.argv[1:] if m in sys.modules])"
    # scikit-learn itself may import rich if it is installed.
    others = [name for name in REPORT_LIBRARIES if name != "rich"]
    ran = subprocess.run([sys.executable, "-c", code, *others], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
