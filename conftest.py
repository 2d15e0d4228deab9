"""Import the package before pytest does so file by file for the doctests.

Otherwise the first module it collects from a package is imported twice, and a class of it is no longer the same class.
"""

import transvariation.classifiers
import transvariation.rivals  # noqa: F401
