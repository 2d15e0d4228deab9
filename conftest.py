"""Set up the test session: one thread per process, and the package imported before its files are collected.

Workers of pytest-xdist share the cores, and threads of BLAS would only compete. Without the early import a module could
be imported twice under different names when its doctests are collected, and its classes would differ.
"""

import os
from importlib.util import find_spec

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import transvariation.baselines
import transvariation.projection_ensemble  # noqa: F401

collect_ignore = [] if find_spec("dask") else ["docs/howto/scale.md"]  # all of it needs Dask
