"""What `import transvariation` offers."""

import subprocess
import sys

import pytest

import transvariation


def test_modules_that_the_manual_names_are_attributes():
    code = """
import sys
for name in ("conformal", "tables", "casework"):
    import transvariation
    assert getattr(transvariation, name).__name__ == f"transvariation.{name}"
    for loaded in [each for each in sys.modules if each.startswith("transvariation")]:
        del sys.modules[loaded]  # the next one is imported first, too
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_misspelt_name_is_answered_with_the_nearest_one():
    with pytest.raises(AttributeError, match=r"no attribute 'NeighbourTOCC'; did you mean NeighborTOCC\?$"):
        _ = transvariation.NeighbourTOCC
    with pytest.raises(AttributeError, match=r"did you mean PAMTOCC\?$"):
        _ = transvariation.PamTOCC


def test_an_unknown_name_is_refused_without_a_guess():
    with pytest.raises(AttributeError, match=r"no attribute 'qqqqqq'$"):
        _ = transvariation.qqqqqq


def test_every_public_name_and_module_is_listed():
    assert {*transvariation.__all__, "casework", "baselines", "metrics"} <= set(dir(transvariation))
