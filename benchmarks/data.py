"""Locate the public data that are not part of the package: water treatment, ADBench, the float glass of the NFI.

The environment variable TRANSVARIATION_DATA names their folder; by default it is ``shared/data`` beside the project.
"""

import os
from pathlib import Path

DATA = Path(os.environ.get("TRANSVARIATION_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
