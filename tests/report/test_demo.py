"""The demonstration."""

from click.testing import CliRunner

from transvariation.cli import main
from transvariation.report import demo


def test_demo_prints_a_table_and_saves_a_figure_and_a_report(tmp_path, monkeypatch):
    draw, drawn = demo.draw_fragments, []
    monkeypatch.setattr(demo, "draw_fragments", lambda *how: drawn.append(draw(*how)) or drawn[-1])
    result = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "new" / "folder")])
    assert result.exit_code == 0
    assert "headlamp" in result.output
    assert "51 of 65 recovered fragments excluded" in result.output
    assert "held out" in result.output
    figure = tmp_path / "new" / "folder" / "glass.png"
    assert str(figure) in result.output.replace("\n", "")
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "<title>" in (figure.parent / "report.html").read_text()
    legend = [text.get_text() for text in drawn[0].axes[0].get_legend().get_texts()]
    assert legend[1:] == [
        "new windows: 13 of 14 not excluded",
        "other glass: 1 of 51 not excluded",
        "other glass: 50 of 51 excluded",
    ]
