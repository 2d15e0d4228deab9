"""The tests mirror the tree: src/transvariation/a/b.py is tested by tests/a/test_b.py.

A file may also test a whole package (tests/a/test_b.py for a/b/), and tests over many modules are in a folder `themes`.
"""

from pathlib import Path

import transvariation

SOURCE, TESTS = Path(transvariation.__file__).parent, Path(__file__).parents[1]


def modules() -> set[str]:
    names = {path.relative_to(SOURCE).with_suffix("").as_posix() for path in SOURCE.rglob("*.py")}
    return {name for name in names if not name.rpartition("/")[2].startswith("_")}


def own_file(name: str) -> str:
    folder, _, module = name.rpartition("/")
    return f"{folder}/test_{module}.py".lstrip("/")


def test_every_module_has_a_test_file():
    without = {name for name in modules() if not (TESTS / own_file(name)).exists()}
    without = {name for name in without if not (TESTS / own_file(name.rpartition("/")[0])).exists()}
    assert without == set(), "write tests/<package>/test_<module>.py"


def test_every_test_file_names_a_module_or_a_theme():
    packages = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*/__init__.py")}
    known = {own_file(name) for name in modules() | packages} | {"test_init.py"}
    files = {path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    others = {path.as_posix() for path in files if path.parent.name not in ("themes", "web_browser")} - known
    assert others == set(), "name the file after its module, or put it into a folder themes"
