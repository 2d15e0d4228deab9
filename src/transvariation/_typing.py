"""Names of the types that the package's annotations use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]
Progress = Callable[[str, float | None], None]  # a step in words, and the share of the work done before it
RandomState = int | np.integer | np.random.RandomState | np.random.Generator | None
