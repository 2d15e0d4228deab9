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
    again = CliRunner().invoke(main, ["demo", "--out", str(folder)])
    assert (again.exit_code, "--overwrite" in again.output) == (2, True)


def test_the_tables_replace_no_others(tmp_path):
    command = ["demo", "--tables", str(tmp_path)]
    assert [CliRunner().invoke(main, command).exit_code for _ in range(2)] == [0, 0]  # the same tables are no loss
    (tmp_path / "background.csv").write_text("source,Na\nmine,1\n")
    refused = CliRunner().invoke(main, command)
    assert (refused.exit_code, "background.csv exists" in refused.output) == (2, True)
    assert "mine" in (tmp_path / "background.csv").read_text()
    assert CliRunner().invoke(main, [*command, "--overwrite"]).exit_code == 0
