"""Failures of a case: codes and fields, and a message that says everything."""

import pickle
import re
from pathlib import Path

from transvariation import casework
from transvariation.casework.errors import MESSAGES, REMEDIES, CaseError


def test_every_code_in_use_has_a_message_and_every_message_is_used():
    files = [path for path in Path(casework.__file__).parent.rglob("*.py") if path.name != "errors.py"]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    raised = re.findall(r"(?:Case|Method)Error\(\s*([^,)]+)", text)
    assert [code for code in raised if code.strip('"') not in MESSAGES and code not in ("code", "error.code")] == []
    assert [code for code in MESSAGES if f'"{code}"' not in text] == []
    assert set(re.findall(r'remedy="([\w-]+)"', text)) <= set(REMEDIES)


def test_a_name_from_a_file_cannot_move_the_cursor():
    error = CaseError("lacks-variables", table="\x1b[2Jt", lacking=["a\nb", "c"], there=[])
    assert str(error) == "\\x1b[2Jt has no variable a\\nb, c; it has "


def test_an_error_survives_a_process():
    error = CaseError("no-source-column", remedy="source-column", table="b.csv")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.values) == (str(error), error.code, error.values)
