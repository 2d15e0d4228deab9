"""One meaning per name, short signatures, and one comparison of a p-value with a level."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import transvariation

ROOT = Path(transvariation.__file__).parent
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}
ON_DASK = {"TOCC", "PAMTOCC", "DensityTOCC", "NeighborTOCC"}  # named alike on purpose: transvariation.dask

MAX_PARAMETERS = 12


def assigned(tree):
    """Return the values of a module's own names."""
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        yield from ((each.id, node.value) for each in targets if isinstance(each, ast.Name))


def test_one_class_or_type_per_name():
    homes = defaultdict(list)
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path)
        for name, _ in assigned(tree):
            if re.fullmatch(r"[A-Z]+[a-z]\w*", name):  # a name of a type
                homes[name].append(path)
    assert {name: paths for name, paths in homes.items() if len(paths) > 1 and name not in ON_DASK} == {}


def is_number(value):
    try:
        return isinstance(eval(ast.unparse(value), {}), int | float)
    except Exception:
        return False


def test_a_constant_number_says_what_it_counts():
    """`MANY_ROWS`, not `MANY`; no two modules share one that a third reads."""
    numbers = {
        (f"transvariation.{path[:-3].replace('/', '.')}", name)
        for path, tree in TREES.items()
        for name, value in assigned(tree)
        if is_number(value)
    }
    read = {
        (node.module, each.name)
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }
    assert sorted(each for each in numbers if "_" not in each[1].strip("_")) == []
    names = [name for _, name in numbers & read]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("package", ["casework", "report", "web", "tables", "cli"])
def test_no_function_has_more_than_twelve_parameters(package):
    long = []
    for path, tree in TREES.items():
        for node in ast.walk(tree) if path.startswith(package) else []:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                n = sum(isinstance(each, ast.arg) for each in ast.walk(node.args))
                long += [f"{path}: {node.name} has {n}"] if n > MAX_PARAMETERS else []
    assert long == []


def test_one_function_compares_p_values_with_a_level():
    """Checks of the control have levels of their own, in `checks`; to format a p-value is no decision."""
    allowed = {"casework/checks.py", "casework/database.py", "report/wording/numbers.py"}
    word = re.compile(r"\bp\b|\bp_values?\b|\b1 - (\w+\.)?sensitivity|\b1 - s\b")
    found = []
    for path, tree in TREES.items():
        if path.split("/")[0].removesuffix(".py") in ("casework", "report", "web", "displays", "metrics", "cli"):
            for node in ast.walk(tree) if path not in allowed else []:
                ordered = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
                if ordered and word.search(ast.unparse(node)):
                    found.append(f"{path}:{node.lineno}: {ast.unparse(node)}")
    assert found == []
