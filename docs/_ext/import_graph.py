"""The architecture as it is: which room of the house imports which, read from the code and drawn in its layers."""

import re
import tomllib
from pathlib import Path

import grimp
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
PACKAGE = "transvariation"
VERBS = {
    "table": "read",
    "reduction": "reduce",
    "typicality": "measure",
    "threshold": "cut",
    "classifiers": "decide",
    "report": "tell",
}
INK, PAPER, TINT, LINE = "#1b2a41", "#ffffff", "#e3ecf7", "#5b7fa6"


def layers() -> list[list[str]]:
    """Read the agreed layers, top to bottom, from the import contract in pyproject.toml."""
    contracts = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    contract = next(c for c in contracts if c["type"] == "layers")
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


def imports() -> dict[str, set[str]]:
    """Map every room to the rooms that it imports directly, itself left out."""
    graph = grimp.build_graph(PACKAGE)
    rooms: dict[str, set[str]] = {}
    for module in graph.modules - {PACKAGE, f"{PACKAGE}.__main__"}:
        room = module.split(".")[1]
        targets = {m.split(".")[1] for m in graph.find_modules_directly_imported_by(module) if "." in m}
        rooms.setdefault(room, set()).update(targets - {room})
    return rooms


def rows(rooms: dict[str, set[str]]) -> list[list[str]]:
    """Arrange the rooms that exist in their layers; one outside the contract stands just above what it imports."""
    level = {room: float(i) for i, layer in enumerate(layers()) for room in layer if room in rooms}
    for room in sorted(rooms.keys() - level.keys()):
        level[room] = min((level[t] for t in rooms[room] if t in level), default=len(level)) - 0.5
    return [sorted(r for r in level if level[r] == y) for y in sorted(set(level.values()))]


def draw(path: Path) -> None:
    """Draw the graph as an SVG: an arrow points from the importer down to what it imports."""
    rooms = imports()
    arranged = rows(rooms)
    figure = Figure(figsize=(8, 1.15 * len(arranged) + 0.4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 8), ylim=(-len(arranged) * 1.15 + 0.35, 0.8))
    axes.axis("off")
    place = {}
    for i, row in enumerate(arranged):
        for j, room in enumerate(row):
            # Rows of equal length would hide long arrows behind boxes: every second row is moved a little.
            place[room] = (8 * (j + 0.5) / len(row) + (0.55 if i % 2 and len(row) < 4 else 0), -1.15 * i)
    for room, targets in rooms.items():
        for target in sorted(targets & place.keys()):
            (x0, y0), (x1, y1) = place[room], place[target]
            skips = round((y0 - y1) / 1.15) > 1
            axes.add_patch(
                FancyArrowPatch(
                    (x0, y0 - 0.27),
                    (x1, y1 + 0.27),
                    connectionstyle=f"arc3,rad={0.12 if skips and x1 >= x0 else -0.12 if skips else 0}",
                    arrowstyle="-|>",
                    mutation_scale=11,
                    linewidth=1.1,
                    color=LINE,
                    alpha=0.75,
                    zorder=1,
                )
            )
    for room, (x, y) in place.items():
        box = FancyBboxPatch((x - 0.62, y - 0.2), 1.24, 0.4, boxstyle="round,pad=0.06", fc=TINT, ec=INK, lw=1, zorder=2)
        axes.add_patch(box)
        verb = VERBS.get(room)
        axes.text(x, y + (0.07 if verb else 0), room, ha="center", va="center", color=INK, fontsize=11, zorder=3)
        if verb:
            axes.text(x, y - 0.14, verb.upper(), ha="center", va="center", color=LINE, fontsize=7.5, zorder=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor=PAPER)
