"""What every parameter that counts something has to be."""

import numpy as np


def check_count(name: str, value: int, largest: int | None = None) -> int:
    """Return a positive whole number, or say why it cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}={value!r} must be a positive whole number")
    if largest is not None and value > largest:
        raise ValueError(
            f"{name}={value} exceeds the number of variables, n_features={largest}; ask for at most {largest}"
        )
    return int(value)
