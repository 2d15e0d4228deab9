"""Names of the types that the package's annotations use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]
Fields = dict[str, Any]  # values by name: a JSON object, keyword arguments
Rows = Any  # samples as some classifier takes them: an array, a sparse matrix, a DataFrame, a list of texts
RandomState = int | np.integer | np.random.RandomState | np.random.Generator | None
