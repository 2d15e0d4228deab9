"""The command line as a person types it."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from transvariation.cli import main


def _run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def test_demo_prints_a_table_and_saves_a_figure_and_a_report(tmp_path):
    result = _run("demo", "--out", tmp_path / "new" / "folder")
    assert result.exit_code == 0
    assert "headlamp" in result.output
    assert "51 recovered objects" in result.output
    figure = tmp_path / "new" / "folder" / "glass.png"
    assert str(figure) in result.output.replace("\n", "")
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "<title>" in (figure.parent / "report.html").read_text()


@pytest.mark.parametrize("arguments", [[], ["demo"]])
def test_every_command_has_help(arguments):
    result = _run(*arguments, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from transvariation.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'matplotlib', 'numpy', 'rich', 'numba'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
