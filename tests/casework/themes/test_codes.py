"""`casework` and `tables` carry codes and fields; the sentences of the front ends are in `report.wording`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import transvariation

SOURCE = Path(transvariation.__file__).parent
MODULES = sorted([*SOURCE.glob("casework/**/*.py"), *SOURCE.glob("tables/**/*.py")])
# What an exception says by itself, in Python's terms, and what `option` writes into signatures and --help.
CATALOGS = {
    "casework/astm.py": {"_TRACE", "_OTHERS"},  # symbols
    "casework/errors.py": {"MESSAGES", "REMEDIES"},
    "casework/settings.py": {"METHODS", "REDUCTIONS", "WORDS", "CONTROLS", "LEADS", "GROUPS", "MISSING"},
    "tables/messages.py": {"MESSAGES", "REMEDIES", "_DECIMAL"},
    "tables/options.py": {"OPTION_KINDS"},
    "tables/headers.py": {"_NAMES", "_OTHER", "KNOWN_UNITS"},  # lists of words
}
NO_SENTENCES = {
    "casework/database.py": {"X to X (median X)"},
    "casework/reading.py": {"windows in Dutch casework"},  # the population of the packaged background
}


def text_of(node: ast.expr) -> str | None:
    """Return a string, with X for what an f-string fills in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
    return None


def excused(node: ast.AST, catalogs: set[str]) -> bool:
    """Return whether the strings in a node are documentation, or the message of an exception or a wrong setting."""
    if isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):  # "source pane window".split() is a list of names
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        return called in (
            "option",
            "reading",
            "variables",
            "comparing",
            "reporting",
            "mapping",
            "_expect",  # which raises
            "_listed",
            "SettingsError",
            "split",
        )
    if isinstance(node, ast.FunctionDef):
        return node.name in ("_conflicts", "listed", "build")  # of Settings and of the errors
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id in catalogs for target in targets)


def sentences(node: ast.AST, catalogs: set[str]) -> Iterator[str]:
    """Yield strings with four or more words, which no code or field has."""
    if excused(node, catalogs):
        return
    text = text_of(node)
    if text is None:
        for child in ast.iter_child_nodes(node):
            yield from sentences(child, catalogs)
    elif sum(word.strip(".,:;()'").isalpha() for word in text.split()) >= 4:
        yield text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_sentence_is_written_below_the_report(path):
    name = path.relative_to(SOURCE).as_posix()
    found = set(sentences(ast.parse(path.read_text(encoding="utf-8")), CATALOGS.get(name, set())))
    assert found - NO_SENTENCES.get(name, set()) == set(), "use a code, and put it in words in report/wording"


def test_a_sentence_is_noticed():
    tree = ast.parse(
        'def f(n):\n    "A docstring of five words."\n    return f"comparing {n} fragments with the control"'
    )
    assert list(sentences(tree, set())) == ["comparing X fragments with the control"]
    assert not list(sentences(ast.parse('raise ValueError("the number of rows is wrong")'), set()))
