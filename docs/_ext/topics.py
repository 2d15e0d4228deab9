"""The user guide's list of pages: any docs/<topic>.md appears by itself, the known ones in reading order."""

from pathlib import Path

DOCS = Path(__file__).parents[1]

# Pages with a place of their own in the navigation.
ELSEWHERE = {"architecture", "changelog", "commands", "contributing", "glossary", "guide", "index", "installation"}
ELSEWHERE |= {"project", "quickstart"}

# The order in which the guide is best read; pages that are not named follow in alphabetical order.
READING_ORDER = ["measure", "classifiers", "density", "densities", "mixture", "mixtures", "reduction", "calibration"]
READING_ORDER += [
    "coverage",
    "explain",
    "rivals",
    "tables",
    "saving",
    "casework",
    "paper",
    "claims",
    "studies",
    "water",
    "scaling",
    "benchmarks",
]


def topics() -> list[str]:
    """List the guide's pages, those with a known place first."""
    found = {page.stem for page in DOCS.glob("*.md")} - ELSEWHERE
    return [t for t in READING_ORDER if t in found] + sorted(found - set(READING_ORDER))


def write(path: Path) -> None:
    """Write the list as a MyST toctree, to be included by the guide."""
    text = "\n".join(["```{toctree}", ":maxdepth: 1", "", *topics(), "```", ""])
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
