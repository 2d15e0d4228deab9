"""The same search in machine code: optional (numba), cached between processes, loaded only when there is much to do.

One fit after the other, everything in small arrays that stay in the nearest cache. What each step does and why is said
in `em`, `models` and `hierarchical` of the package above; a test makes the two agree.
"""

from functools import partial

from transvariation.acceleration import compiled as kept

compiled = partial(kept, error_model="numpy")

# Sums may be taken in any order, so that several terms are added at once.
compiled_sums = compiled(fastmath={"reassoc", "contract", "nsz", "arcp"})
