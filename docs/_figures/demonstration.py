"""The p-values of the demonstration, kept inside its pictures so that a test notices when one is out of date."""

from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from transvariation.casework import judge
from transvariation.report.demo import demo_tables

KEY = "p-values"


def p_values() -> str:
    """Judge the example fragments and list their p-values."""
    control, recovered = (demo_tables()[f"{name}.csv"].set_index("fragment") for name in ("windows", "recovered"))
    return " ".join(f"{conclusion.p_value:.4f}" for conclusion in judge(control, recovered).conclusions)


def stamp(path: Path) -> None:
    """Write the present p-values into a picture that was just taken."""
    about = PngInfo()
    about.add_text(KEY, p_values())
    with Image.open(path) as picture:
        picture.load()
        picture.save(path, pnginfo=about, optimize=True)


def stamped(path: Path) -> str | None:
    """Read the p-values of the version that a picture shows."""
    with Image.open(path) as picture:
        return picture.info.get(KEY)
