"""Import the package before pytest collects its files for doctests.

Otherwise a module could be imported twice under different names, and its classes would differ.
"""

import transvariation.baselines
import transvariation.projection_ensemble  # noqa: F401
