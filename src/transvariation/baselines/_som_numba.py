"""The loop over presentations of a self-organising map, compiled."""

import numpy as np
from numpy.typing import NDArray

from transvariation.acceleration import compiled

Floats = NDArray[np.float64]


@compiled
def present(codes: Floats, shown: Floats, near: Floats, alphas: Floats, radii: Floats) -> None:
    """Move the units, sample by sample, by the same operations in the same order as the NumPy version."""
    p, k = codes.shape
    for t in range(len(shown)):
        closest, least = 0, np.inf
        for j in range(k):
            distance = 0.0
            for i in range(p):
                away = shown[t, i] - codes[i, j]
                distance += away * away
            if distance < least:
                closest, least = j, distance
        for j in range(k):
            if near[closest, j] <= radii[t]:
                for i in range(p):
                    codes[i, j] += alphas[t] * (shown[t, i] - codes[i, j])
