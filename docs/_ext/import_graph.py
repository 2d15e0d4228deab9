"""The architecture as it is: which room of the house imports which, read from the code and drawn in its layers."""

import re
import tomllib
from pathlib import Path

import grimp
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

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
INK, PAPER, TINT, LINE, BAND = "#1b2a41", "#ffffff", "#e3ecf7", "#4a709c", "#f6f7f9"
STEP, ROW, BOX, HALF = 0.72, 0.72, 1.36, 0.24
ARROW = {"arrowstyle": "-|>", "color": LINE, "linewidth": 1, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}


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
    """Arrange the rooms that exist in their layers, importers before what they import.

    A room outside the contract stands just above what it imports.
    """
    level = {room: float(i) for i, layer in enumerate(layers()) for room in layer if room in rooms}
    for room in sorted(rooms.keys() - level.keys()):
        level[room] = min((level[t] for t in rooms[room] if t in level), default=len(level)) - 0.5
    arranged = [{room for room in level if level[room] == y} for y in sorted(set(level.values()))]
    return [sorted(row, key=lambda room: (-len(_reached(room, rooms, row)), room)) for row in arranged]


def _reached(room: str, rooms: dict[str, set[str]], within: set[str]) -> set[str]:
    """Follow the imports of a room that stay within its layer."""
    found: set[str] = set()
    ahead = [room]
    while ahead:
        new = (rooms[ahead.pop()] & within) - found
        found |= new
        ahead += new
    return found


def draw(path: Path) -> None:
    """Draw a staircase, top room first: a line runs right from the importer, a dot turns it down into what it imports.

    Every import that keeps the contract then points down; one that broke it would have to point up.
    """
    rooms = imports()
    arranged = rows(rooms)
    order = [room for row in arranged for room in row]
    place = {room: (STEP * i, -ROW * i) for i, room in enumerate(order)}
    width, height = STEP * (len(order) - 1) + BOX + 0.3, ROW * len(order) + 0.2
    figure = Figure(figsize=(0.78 * width, 0.78 * height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.15, width - 0.15), ylim=(0.5 - height, 0.5))
    axes.axis("off")
    for row in arranged[::2]:
        top, bottom = place[row[0]][1] + ROW / 2, place[row[-1]][1] - ROW / 2
        axes.axhspan(bottom, top, color=BAND, zorder=0)
    for room, targets in rooms.items():
        x0, y0 = place[room]
        for target in targets & place.keys():
            x1, y1 = place[target]
            turn, end = x1 + 1.0, y1 + HALF + 0.03
            axes.plot([x0 + BOX, turn], [y0, y0], color=LINE, linewidth=1, zorder=1)
            axes.annotate("", (turn, end), (turn, y0), zorder=1, arrowprops=ARROW)
            axes.plot(turn, y0, "o", color=LINE, markersize=4, zorder=1)
    for room, (x, y) in place.items():
        box = (x + 0.06, y - HALF + 0.06), BOX - 0.12, 2 * HALF - 0.12
        axes.add_patch(FancyBboxPatch(*box, boxstyle="round,pad=0.06", fc=TINT, ec=INK, lw=1, zorder=2))
        verb = VERBS.get(room)
        middle = x + BOX / 2
        axes.text(middle, y + (0.08 if verb else 0), room, ha="center", va="center", color=INK, fontsize=10.5, zorder=3)
        if verb:
            axes.text(middle, y - 0.13, verb.upper(), ha="center", va="center", color=LINE, fontsize=7, zorder=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor=PAPER)
