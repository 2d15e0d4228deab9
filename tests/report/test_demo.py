"""The demonstration."""

from click.testing import CliRunner

from transvariation.cli import main


def test_demo_prints_a_table_and_writes_a_report(tmp_path):
    folder = tmp_path / "new" / "folder"
    result = CliRunner().invoke(main, ["demo", "--out", str(folder)])
    assert result.exit_code == 0
    assert "headlamp" in result.output
    assert "51 of 65 recovered fragments excluded" in result.output
    assert "held out" in result.output
    assert str(folder / "report.html") in result.output.replace("\n", "")
    assert "<title>" in (folder / "report.html").read_text()
