"""Every code has its message, and every message its code."""

import re
from pathlib import Path

from transvariation import tables
from transvariation.tables.messages import MESSAGES, REMEDIES


def test_every_code_in_use_has_a_message():
    files = [
        path for path in Path(tables.__file__).parent.glob("*.py") if path.name not in ("messages.py", "problems.py")
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    used = set(re.findall(r'(?:\.add|\.stop|\.note|Problem)\(\s*"([\w-]+)"', text))
    assert used <= set(MESSAGES)
    assert [code for code in MESSAGES if f'"{code}"' not in text] == []  # and every message is in use
    remedies = set(re.findall(r'remedy="([\w-]+)"', text))
    assert remedies <= set(REMEDIES)
