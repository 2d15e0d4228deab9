"""What made a result: versions as installed, and a command that can be typed again."""

import platform
import shlex
import sys
from importlib.metadata import version

from transvariation.provenance import PACKAGES, command_line, provenance


def test_versions_are_those_installed(monkeypatch):
    found = provenance("judge", seed=3)
    assert (found["command"], found["seed"], found["python"]) == ("judge", "3", platform.python_version())
    assert found["numpy"] == version("numpy")
    assert set(PACKAGES) < set(found)
    monkeypatch.setattr("transvariation.provenance.PACKAGES", ("no-such-package",))
    assert provenance("judge")["no-such-package"] == "not installed"


def test_a_command_is_quoted_for_the_shell(monkeypatch):
    typed = ["judge", "a b.csv", "it's.csv", "--sensitivity", "0.9"]
    monkeypatch.setattr(sys, "argv", ["/usr/lib/python3/transvariation", *typed])
    assert shlex.split(command_line()) == ["transvariation", *typed]


def test_a_name_that_is_no_utf_8_is_escaped(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["transvariation", "judge", "a\udcff.csv"])
    assert command_line().encode().endswith(rb"\xff.csv'")
