"""Import the rivals before pytest does: a file collected for its doctests alone would define their classes twice."""

import transvariation.rivals  # noqa: F401
