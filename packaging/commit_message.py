"""Refuse a commit message with a long subject or without a reason; pre-commit calls it with the file of the message."""

import re
import sys
from pathlib import Path

LONGEST_SUBJECT = 72


def fault(message: str) -> str | None:
    """Return what is wrong with a commit message; None if nothing is."""
    message = re.sub(r"^#.*\n?", "", message.partition("\n# ------------------------ >8")[0], flags=re.MULTILINE)
    subject, _, body = message.strip().partition("\n")
    if subject.startswith(("Merge ", "fixup! ", "squash! ", "amend! ")):
        return None
    if len(subject) > LONGEST_SUBJECT:
        return f"The subject has {len(subject)} characters; at most {LONGEST_SUBJECT} are allowed."
    if not body.startswith("\n"):
        return "The body is missing: say why after an empty line."
    return None


if __name__ == "__main__":
    sys.exit(fault(Path(sys.argv[1]).read_text(encoding="utf-8")))
