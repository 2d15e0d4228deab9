"""Draw the modules of the package in the layers of the import contract, and the direct imports between them."""

import re
import tomllib
from pathlib import Path

import grimp
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from transvariation.report.figure_style import DARK, REGION

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PACKAGE = "transvariation"
PAPER, BAND = "#ffffff", "#f3f6f9"
WIDTH, ROW, BOX, GAP = 9.0, 0.62, 0.34, 0.12  # inches


def layers() -> list[list[str]]:
    """Read the layers, top to bottom, from the import contract in pyproject.toml."""
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    contract = next(c for c in contracts if c["type"] == "layers")
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


def imports() -> dict[str, set[str]]:
    """Map every module and package below the root to those that it imports directly."""
    graph = grimp.build_graph(PACKAGE)
    found: dict[str, set[str]] = {}
    for module in graph.modules - {PACKAGE, f"{PACKAGE}.__main__"}:
        name = module.split(".")[1]
        targets = {m.split(".")[1] for m in graph.find_modules_directly_imported_by(module) if "." in m}
        found.setdefault(name, set()).update(target for target in targets - {name} if not target.startswith("_"))
    return {name: targets for name, targets in found.items() if not name.startswith("_")}


def width(name: str) -> float:
    """Return the width of a box in inches."""
    return 0.09 * len(name) + 0.2


def lines(layer: list[str]) -> list[list[str]]:
    """Divide a layer into lines that fit the width of the figure."""
    found: list[list[str]] = [[]]
    for name in layer:
        if found[-1] and sum(width(each) + GAP for each in [*found[-1], name]) > WIDTH:
            found.append([])
        found[-1].append(name)
    return found


def draw(path: Path) -> None:
    """Draw one band per layer; a thin line connects each module with what it imports."""
    found = imports()
    kept = [row for layer in layers() if (row := [name for name in layer if name in found])]
    bands, rows = zip(*((i, row) for i, layer in enumerate(kept) for row in lines(layer)), strict=True)
    figure = Figure(figsize=(WIDTH, ROW * len(rows)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(-ROW * len(rows), 0))
    axes.axis("off")
    place: dict[str, tuple[float, float]] = {}
    for i, row in enumerate(rows):
        y = -ROW * (i + 0.5)
        if bands[i] % 2 == 0:
            axes.axhspan(y - ROW / 2, y + ROW / 2, color=BAND, zorder=0)
        gap = (WIDTH - sum(map(width, row))) / len(row)
        place |= {
            name: (sum(width(left) + gap for left in row[:j]) + (gap + width(name)) / 2, y)
            for j, name in enumerate(row)
        }
    for name, targets in found.items():
        for target in targets & place.keys():
            (x0, y0), (x1, y1) = place[name], place[target]
            axes.plot([x0, x1], [y0, y1], color=DARK, linewidth=0.6, alpha=0.35, zorder=1)
    for name, (x, y) in place.items():
        corner = (x - width(name) / 2, y - BOX / 2)
        shape = FancyBboxPatch(corner, width(name), BOX, boxstyle="round,pad=0.02", fc=REGION, ec=DARK, lw=0.8)
        shape.set_zorder(2)
        axes.add_patch(shape)
        axes.text(x, y, name, ha="center", va="center", color=DARK, fontsize=11, zorder=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor=PAPER)
