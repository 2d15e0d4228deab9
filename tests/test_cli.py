"""The command line."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from transvariation.casework import judge
from transvariation.cli import main
from transvariation.persistence import load, read_about, save


def _run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


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


@pytest.fixture
def thousandths(tmp_path):
    """Refractive indices to three decimals with a comma, of which no reader can tell that they are no thousands."""
    values = np.random.default_rng(0).normal([1.518, 13.6], [0.002, 0.2], size=(31, 2)).round(3)
    lines = [f"F{i};{ri:.3f};{na:.3f}\n".replace(".", ",") for i, (ri, na) in enumerate(values)]
    paths = tmp_path / "control.csv", tmp_path / "recovered.csv"
    for path, part in zip(paths, (lines[1:], lines[:1]), strict=True):
        path.write_text("id;RI;Na\n" + "".join(part))
    return paths


def test_a_decimal_mark_that_is_ambiguous_can_be_given(thousandths, tmp_path):
    refused = _run("judge", *thousandths)
    assert refused.exit_code == 2
    assert "if the comma is the decimal mark, give --decimal comma" in refused.output
    file = tmp_path / "case.json"
    expected = judge(*thousandths, decimal=",").to_dict()
    for word in (",", "comma"):
        done = _run("judge", *thousandths, "--decimal", word, "--json", file, "--overwrite")
        assert done.exit_code == 0, done.output
        found = json.loads(file.read_text())
        assert found["conclusions"][0]["p_value"] == expected["conclusions"][0]["p_value"]
        assert 1.51 < found["inputs"]["known"][0]["measurements"]["RI"][0] < 1.53
        for role in ("control", "recovered"):
            assert "the comma as decimal mark" in str(found["inputs"][role]["notes"])


def test_the_recorded_command_includes_the_decimal_mark(thousandths, tmp_path, monkeypatch):
    typed = ["judge", *map(str, thousandths), "--decimal", ",", "--json", str(tmp_path / "case.json")]
    monkeypatch.setattr(sys, "argv", ["transvariation", *typed])
    assert _run(*typed).exit_code == 0
    command = json.loads((tmp_path / "case.json").read_text())["provenance"]["command"]
    assert command == " ".join(["transvariation", *typed])


def test_the_recorded_command_can_be_typed_again(case, monkeypatch):
    odd = case / "two words & $more's.csv"
    shutil.copy(case / "control.csv", odd)
    typed = ["judge", str(odd), str(case / "recovered.csv"), "--json", str(case / "case.json")]
    monkeypatch.setattr(sys, "argv", ["transvariation", *typed])
    assert _run(*typed).exit_code == 0
    command = json.loads((case / "case.json").read_text())["provenance"]["command"]
    assert shlex.split(command) == ["transvariation", *typed]


def test_fit_and_score_take_the_decimal_mark(thousandths, tmp_path):
    control, recovered = thousandths
    model, out = tmp_path / "model.tv", tmp_path / "scores.csv"
    assert _run("fit", control, model).exit_code == 2
    assert _run("fit", control, model, "--decimal", "comma").exit_code == 0
    assert "the comma as decimal mark" in str(read_about(model))
    assert _run("score", model, recovered, "--out", out).exit_code == 2
    assert _run("score", model, recovered, "--out", out, "--decimal", ",").exit_code == 0
    (conclusion,) = judge(*thousandths, decimal=",").conclusions
    assert float(out.read_text().splitlines()[1].split(",")[2]) == pytest.approx(conclusion.p_value)


def test_the_point_makes_no_number_of_what_may_be_thousands(thousandths):
    refused = _run("judge", *thousandths, "--decimal", "point")
    assert refused.exit_code == 2
    assert "no column holds numbers" in refused.output
    assert _run("judge", *thousandths, "--decimal", ";").exit_code == 2


def test_the_decimal_mark_is_that_of_the_background_too(thousandths, tmp_path):
    background = tmp_path / "background.csv"
    background.write_text("RI;Na\n1,518;13,641\n1,519;13,642\n")
    refused = _run("judge", *thousandths, "--decimal", ",", "--background", background)
    assert "no column that names the source" in refused.output  # so its numbers were read


@pytest.fixture
def case(tmp_path):
    """A folder with control.csv, recovered.csv and a model kept in model.tv."""
    values = np.random.default_rng(0).normal(size=(34, 2)).round(2)
    lines = [f"F{i},{a},{b}\n" for i, (a, b) in enumerate(values)]
    (tmp_path / "control.csv").write_text("id,Na,Mg\n" + "".join(lines[4:]))
    (tmp_path / "recovered.csv").write_text("id,Na,Mg\n" + "".join(lines[:4]))
    assert _run("fit", tmp_path / "control.csv", tmp_path / "model.tv").exit_code == 0
    return tmp_path


def _files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "typed",
    [
        "judge control.csv recovered.csv --json control.csv",
        "judge control.csv recovered.csv --json linked.csv",
        "judge control.csv recovered.csv --background many.csv --json many.csv",
        "judge control.csv recovered.csv --report new.html --json new.html",
        "fit control.csv control.csv",
        "fit control.csv recovered.csv",
        "score model.tv recovered.csv --out recovered.csv",
        "score model.tv recovered.csv --out model.tv",
    ],
)
def test_an_output_that_would_replace_an_input_is_refused(case, monkeypatch, typed):
    monkeypatch.chdir(case)
    (case / "many.csv").write_text("source,Na,Mg\n")
    (case / "linked.csv").symlink_to(case / "control.csv")
    before = _files(case)
    done = _run(*typed.split())
    assert done.exit_code == 2
    assert "name" in done.output
    assert typed.split()[-1] in done.output
    assert _files(case) == before


def test_a_model_replaces_an_older_model_or_an_empty_file(case):
    (case / "empty").touch()
    for name in ("model.tv", "empty"):
        assert _run("fit", case / "control.csv", case / name, "--sensitivity", "0.8", "--overwrite").exit_code == 0
        assert load(case / name).sensitivity == 0.8


@pytest.mark.parametrize(
    "typed",
    [
        "judge control.csv recovered.csv --report nodir/new.html",
        "judge control.csv recovered.csv --report new.html --json nodir/new.json",
        "fit control.csv nodir/new.tv",
        "score model.tv recovered.csv --out nodir/new.csv",
    ],
)
def test_a_folder_that_is_missing_is_named_before_any_work(case, monkeypatch, typed):
    monkeypatch.chdir(case)
    for work in ("report.console.judge_tables", "casework.model_file.read_table", "casework.model_file.load"):
        monkeypatch.setattr(f"transvariation.{work}", None)
    before = _files(case)
    done = _run(*typed.split())
    assert done.exit_code == 2
    assert "Error: nodir: there is no such folder" in done.output
    assert _files(case) == before


def test_a_report_that_cannot_be_made_is_refused_before_any_work(case, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    monkeypatch.setattr("transvariation.report.console.judge_tables", None)
    done = _run("judge", case / "control.csv", case / "recovered.csv", "--report", case / "new.pdf")
    assert done.exit_code == 2
    assert "needs Typst" in done.output


def test_a_full_disk_leaves_the_older_file(case, monkeypatch):
    monkeypatch.chdir(case)
    typed = "judge control.csv recovered.csv --report old.html --json old.json"
    assert _run(*typed.split()).exit_code == 0
    before = _files(case)
    whole = Path.write_bytes

    def cut_off(path, content):
        whole(path, content[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", cut_off)
    monkeypatch.setattr(Path, "write_text", lambda path, content, **_: cut_off(path, content.encode()))
    for written in (typed, "judge control.csv recovered.csv --json old.json", "fit control.csv model.tv"):
        done = _run(*written.split(), "--overwrite")
        assert done.exit_code == 2
        assert "No space left on device" in done.output
    assert _files(case) == before


def test_a_link_and_a_pipe_stay_what_they_are(case):
    kept, link, pipe = case / "kept.json", case / "link.json", case / "pipe"
    kept.touch(mode=0o600)
    link.symlink_to(kept)
    assert _run("judge", case / "control.csv", case / "recovered.csv", "--json", link).exit_code == 0
    assert link.is_symlink()
    assert json.loads(kept.read_text())["schema"]
    assert kept.stat().st_mode & 0o777 == 0o600
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    assert _run("score", case / "model.tv", case / "recovered.csv", "--out", pipe).exit_code == 0
    assert pipe.is_fifo()
    reader.join(10)
    assert read[0].startswith("id,verdict,p_value,tp,model\n")


def test_files_are_written_even_if_the_screen_fails(case, monkeypatch):
    def broken(result, console):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("transvariation.report.console.show_case", broken)
    files = case / "new.html", case / "new.json"
    _run("judge", case / "control.csv", case / "recovered.csv", "--report", files[0], "--json", files[1])
    assert all(file.exists() for file in files)


@pytest.mark.parametrize(
    "typed", ["demo", "study glass --seeds 1 --repeats 1 --jobs 1", "study simulation --scenarios a --repeats 1"]
)
def test_a_folder_that_cannot_be_made_is_named_before_any_work(tmp_path, monkeypatch, typed):
    for work in ("report.demo.judge_case", "studies.glass.GlassStudy.run_cells", "studies.simulation.Study.run"):
        monkeypatch.setattr(f"transvariation.{work}", None)
    (tmp_path / "file").touch()
    done = _run(*typed.split(), "--out", tmp_path / "file" / "folder")
    assert done.exit_code == 2
    assert "file/folder: Not a directory" in done.output.replace("\n", "")


def test_the_glass_study_refuses_zero_jobs(tmp_path):
    done = _run("study", "glass", "--out", tmp_path, "--jobs", "0")
    assert done.exit_code == 2
    assert "0 is none of these: Processes" in done.output


@pytest.fixture
def workbook(case):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(case / "case.xlsx") as book:
        for name in ("control", "recovered"):
            pd.read_csv(case / f"{name}.csv").to_excel(book, sheet_name=name, index=False)
    return case / "case.xlsx"


def _judged(folder, *arguments, status=0):
    done = _run("judge", *arguments, "--json", folder / "case.json", "--overwrite")
    assert done.exit_code == status, done.output
    return json.loads((folder / "case.json").read_text())


def test_two_sheets_of_one_workbook_are_judged_like_two_files(case, workbook):
    files = _judged(case, case / "control.csv", case / "recovered.csv")
    sheets = _judged(case, workbook, workbook, "--control-sheet", "control", "--recovered-sheet", "recovered")
    assert sheets["conclusions"] == files["conclusions"]
    assert sheets["warnings"] == files["warnings"]
    assert "the sheet 'recovered' was read" in str(sheets["inputs"]["recovered"]["notes"])
    refused = _run("judge", workbook, workbook, "--control-sheet", "Control")
    assert refused.exit_code == 2
    assert "there is no sheet 'Control'; there are 'control', 'recovered'" in refused.output


def test_a_control_judged_by_itself_draws_a_caution(case, workbook):
    twice = (workbook, workbook), (case / "control.csv", case / "control.csv")
    named = workbook, workbook, "--recovered-sheet", "control"
    for arguments in (*twice, named):
        assert "same-tables" in {caution["code"] for caution in _judged(case, *arguments)["warnings"]}


def test_a_background_may_be_a_sheet(case, workbook):
    pytest.importorskip("lir")
    rng = np.random.default_rng(0)
    panes = np.repeat(np.arange(40), 4)
    values = rng.normal(size=(40, 2))[panes] + 0.1 * rng.normal(size=(160, 2))
    many = pd.DataFrame(values, columns=["Na", "Mg"]).assign(pane=[f"P{i}" for i in panes])
    with pd.ExcelWriter(workbook, mode="a") as book:
        many.to_excel(book, sheet_name="many", index=False)
    tables = case / "control.csv", case / "recovered.csv"
    found = _judged(case, *tables, "--background", workbook, "--background-sheet", "many")
    assert found["inputs"]["background"]["sources"] == 40
    refused = _run("judge", *tables, "--background-sheet", "many")
    assert refused.exit_code == 2
    assert "needs a background" in refused.output


@pytest.fixture
def glass_case(tmp_path):
    """The three-level example of the documentation, with a small background and a reduced set of elements."""
    assert _run("demo", "--tables", tmp_path).exit_code == 0
    background = pd.read_csv(tmp_path / "background.csv")
    background[background["source"].isin(background["source"].unique()[:60])].to_csv(
        tmp_path / "small.csv", index=False
    )
    return tmp_path


def test_the_example_tables_make_a_case(glass_case):
    pytest.importorskip("lir")
    done = _run(
        "judge",
        *(glass_case / name for name in ("pane.csv", "questioned.csv")),
        "--background",
        glass_case / "small.csv",
        *("--report", glass_case / "case.html", "--case-number", "2026/17", "--examiner", "A. Smith"),
    )
    assert done.exit_code == 0, done.output
    assert "for 2 of 4 recovered fragments and different sources for 2." in " ".join(done.output.split())
    page = (glass_case / "case.html").read_text()
    assert "2026/17" in page
    assert "A. Smith" in page


def test_the_screen_fits_and_never_splits_a_name(glass_case, monkeypatch):
    monkeypatch.chdir(glass_case)
    questioned = pd.read_csv(glass_case / "questioned.csv")
    questioned["piece"] = [f"item-{i}-of-the-left-jacket-pocket" for i in range(len(questioned))]
    questioned.to_csv(glass_case / "long.csv", index=False)
    done = CliRunner(env={"COLUMNS": "60"}).invoke(main, ["judge", "pane.csv", "long.csv", "--background", "small.csv"])
    assert done.exit_code == 0, done.output
    for i in range(4):
        assert f"item-{i}-of-the-left-jacket-pocket" in done.output
    assert max(len(line) for line in done.output.splitlines()) <= 60
    assert "foreign" not in done.output


def test_remedies_are_options_of_the_command_line(case):
    (case / "gap.csv").write_text("id,Na,Mg\nx,,0.2\n")
    done = _run("judge", case / "control.csv", case / "gap.csv")
    assert done.exit_code == 2
    assert "--missing drop" in done.output
    assert 'missing="drop"' not in done.output
    few = _run("judge", case / "recovered.csv", case / "control.csv", "--method", "pam")
    assert few.exit_code == 2
    assert "--method neighbor" in few.output


def test_a_background_that_is_not_there_is_named(case):
    done = _run("judge", case / "control.csv", case / "recovered.csv", "--background", "nowhere.csv")
    assert done.exit_code == 2
    assert "'nowhere.csv' does not exist; give a file, or nfi" in " ".join(done.output.split())


@pytest.mark.parametrize("command", ["judge", "fit", "score"])
def test_options_named_by_remedies_exist(command):
    shown = _run(command, "--help").output
    assert "--role COLUMN=ROLE" in shown
    assert "--drop-summary-rows" in shown


def test_roles_and_summary_rows_reach_the_reader(tmp_path):
    rows = "".join(f"F{i},{1.5 + i % 7 / 100},{13 + i % 5 / 10}\n" for i in range(20))
    control, recovered, out = (tmp_path / name for name in ("control.csv", "recovered.csv", "case.json"))
    control.write_text(f"id,RI,Na=1\n{rows}mean,1.5,13.1\n")
    recovered.write_text("id,RI,Na=1\nA,1.5,13.1\n")
    refused = _run("judge", control, recovered)
    assert refused.exit_code == 2
    assert "choose --drop-summary-rows" in " ".join(refused.output.split())
    done = _run("judge", control, recovered, "--drop-summary-rows", "--role", "Na=1=ignore", "--json", out)
    assert done.exit_code == 0, done.output
    inputs = json.loads(out.read_text())["inputs"]
    assert inputs["features"] == ["RI"]
    assert inputs["control"]["objects"] == 20


@pytest.mark.parametrize("role", ["Na", "=ignore", "Na=color"])
def test_an_unknown_role_is_refused(case, role):
    done = _run("judge", case / "control.csv", case / "recovered.csv", "--role", role)
    assert done.exit_code == 2
    assert "must be COLUMN=ROLE with one of the roles id, source" in " ".join(done.output.split())


def test_score_repeats_the_warnings_of_fit(case):
    pd.read_csv(case / "control.csv").head(6).to_csv(case / "few.csv", index=False)
    fitted = _run("fit", case / "few.csv", case / "model.tv", "--overwrite")
    warnings = [line for line in fitted.output.splitlines() if line.startswith("Warning: ")]
    assert warnings
    scored = _run("score", case / "model.tv", case / "recovered.csv")
    assert [line for line in scored.output.splitlines() if line.startswith("Warning: ")] == warnings


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
def test_names_that_are_not_utf_8_and_ids_that_the_terminal_cannot_encode_are_escaped(case):
    name = os.fsdecode(b"caf\xe9.csv")
    shutil.copy(case / "control.csv", case / name)
    (case / "omega.csv").write_text("id,Na,Mg\nΩ1,0.1,0.2\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "transvariation", "judge", name, "omega.csv", "--report", "new.html"],
        cwd=case,
        env=os.environ | {"PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert rb"\u03a91" in done.stdout
    report = (case / "new.html").read_text(encoding="utf-8")
    assert "Ω1" in report
    assert "caf\\xe9.csv" in report


def test_the_decimal_mark_of_one_table_can_be_given(case):
    (case / "comma.csv").write_text("id;Na;Mg\nx;1,512;2,512\ny;1,513;2,514\n")
    refused = _run("judge", case / "control.csv", case / "comma.csv")
    assert "give --recovered-decimal comma" in refused.output
    found = _judged(case, case / "control.csv", case / "comma.csv", "--recovered-decimal", "comma")
    assert [c["measurements"]["Na"] for c in found["conclusions"]] == [[1.512], [1.513]]
    other = _judged(case, case / "comma.csv", case / "control.csv", "--control-decimal", ",", status=3)
    assert [k["measurements"]["Na"] for k in other["inputs"]["known"]] == [[1.512], [1.513]]


def test_the_header_row_of_one_table_can_be_given(case):
    titled = case / "titled.csv"
    titled.write_text("Case 12,,\n" + (case / "recovered.csv").read_text())
    refused = _run("judge", case / "control.csv", titled)
    assert "give --recovered-header-row 2" in " ".join(refused.output.split())
    plain = _judged(case, case / "control.csv", case / "recovered.csv")
    found = _judged(case, case / "control.csv", titled, "--recovered-header-row", 2)
    assert found["conclusions"] == plain["conclusions"]


def test_score_reports_how_many_rows_were_left_out(case):
    (case / "gaps.csv").write_text("id,Na,Mg\na,1,2\nb,,2\nc,<1,2\n")
    done = _run("score", case / "model.tv", case / "gaps.csv", "--missing", "drop")
    assert "1 row scored, " in done.output
    assert "rejected at a sensitivity of 0.9, 2 left out because" in done.output
    refused = _run("score", case / "model.tv", case / "gaps.csv")
    assert refused.exit_code == 2
    assert "impute" not in refused.output  # score cannot


def test_score_takes_the_variable_in_the_unit_of_the_model(case):
    for name, header in (("control", "id,Na (ppm),Mg"), ("recovered", "id,Na (ppm),Mg")):
        text = (case / f"{name}.csv").read_text()
        (case / f"{name}.csv").write_text(text.replace("id,Na,Mg", header))
    assert _run("fit", case / "control.csv", case / "model.tv", "--overwrite").exit_code == 0
    pd.read_csv(case / "recovered.csv").assign(**{"Na (wt%)": 9.0}).to_csv(case / "both.csv", index=False)
    for name in ("recovered", "both"):
        done = _run("score", case / "model.tv", case / f"{name}.csv", "--out", case / f"{name}.scores")
        assert done.exit_code == 0, done.output
    assert (case / "both.scores").read_text() == (case / "recovered.scores").read_text()


def test_fit_and_score_take_a_sheet(case, workbook):
    assert _run("fit", workbook, case / "model.tv", "--sheet", "control", "--overwrite").exit_code == 0
    scored = [case / "sheet.csv", case / "file.csv"]
    assert _run("score", case / "model.tv", workbook, "--sheet", "recovered", "--out", scored[0]).exit_code == 0
    assert _run("score", case / "model.tv", case / "recovered.csv", "--out", scored[1]).exit_code == 0
    assert scored[0].read_text() == scored[1].read_text()


def test_a_model_given_as_a_table_and_vice_versa_are_refused(case):
    control, recovered, model = (case / name for name in ("control.csv", "recovered.csv", "model.tv"))
    for typed in (("score", recovered, model), ("score", control, recovered)):
        done = _run(*typed)
        assert done.exit_code == 2
        assert f"'{typed[1]}': not a model file" in done.output
        assert "(`score` takes the model first, then the table)" in done.output
    done = _run("judge", model, recovered)
    assert done.exit_code == 2
    assert "model.tv: this is no table but a model saved by `fit`; apply it with `score`" in done.output


def test_a_name_with_a_comma_and_an_object_of_which_nothing_was_measured(tmp_path):
    values = np.random.default_rng(0).normal(size=(30, 3))
    pd.DataFrame(values, columns=["1,4-dioxane", "K", "Na"]).to_csv(tmp_path / "c.csv", index_label="id")
    (tmp_path / "r.csv").write_text('id,"1,4-dioxane",K,Na\nX,,,0.1\nY,0.1,,\nby LabSoft 3.2,,,\n')
    quoted = ["--features", '"1,4-dioxane", K', "--missing", "impute"]
    done = _run("judge", tmp_path / "c.csv", tmp_path / "r.csv", *quoted, "--json", tmp_path / "case.json")
    assert done.exit_code == 0, done.output
    assert "Left out of the recovered" in done.output
    case = json.loads((tmp_path / "case.json").read_text())
    assert [conclusion["fragment"] for conclusion in case["conclusions"]] == ["Y"]
    assert case["inputs"]["features"] == ["1,4-dioxane", "K"]
    assert case["inputs"]["recovered"]["dropped"] == ["X", "by LabSoft 3.2"]
    assert "there is no column ''" in _run("judge", tmp_path / "c.csv", tmp_path / "r.csv", "--features", " ").output


def test_score_escapes_the_warnings_of_a_model_file(case):
    """A stranger's model file must not write control sequences to the terminal."""
    model = case / "model.tv"
    assert _run("fit", case / "control.csv", model, "--overwrite").exit_code == 0
    about = read_about(model)["about"]
    save(load(model), model, about={**about, "cautions": ["\x1b]0;owned\x07 beware", "\u202egnp.exe"]})
    done = _run("score", model, case / "recovered.csv")
    assert done.exit_code == 0
    assert "beware" in done.output
    assert all(line.isprintable() for line in done.output.replace("\r", "\n").split("\n"))


HOSTILE = "\x1b]0;owned\x07\x9b2J\u202e<script>[bold]x[/nope] "


def test_names_from_files_cannot_write_to_the_terminal_or_the_report(case, monkeypatch):
    """Control sequences in ids, columns and file names are shown as escapes on every screen, and in the report."""
    monkeypatch.chdir(case)
    rng = np.random.default_rng(0)
    for name, n in (("control", 40), ("recovered", 4)):
        table = pd.DataFrame(rng.normal(size=(n, 3)), columns=[f"{HOSTILE}{v}" for v in "abc"])
        table.insert(0, "id", [f"{HOSTILE}{name}{i}" for i in range(n)])
        table.to_csv(f"{HOSTILE}{name}.csv".replace("/", "_"), index=False)
    control, recovered, model, report = (
        f"{HOSTILE}{name}".replace("/", "_") for name in ("control.csv", "recovered.csv", "model.tv", "case.html")
    )
    for arguments, status in (
        (("judge", control, recovered, "--report", report, "--json", "case.json"), 0),
        (("judge", control, control), 0),  # a note that names the fragments
        (("judge", control, recovered, "--json", f"{HOSTILE}folder/case.json"), 2),
        (("fit", control, model), 0),
        (("score", model, recovered), 0),
    ):
        done = _run(*arguments)
        assert done.exit_code == status, done.output
        assert "owned" in done.output
        assert not set(done.output) & set("\x1b\x07\x9b\u202e"), arguments
    page = Path(report).read_text(encoding="utf-8")
    assert "owned" in page
    assert not set(page) & set("\x1b\x07\x9b\u202e")
    assert "<script>[bold]" not in page
    assert "\x1b" not in Path("case.json").read_text(encoding="utf-8")


def test_ctrl_c_stops_a_command_with_its_own_status(case, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("transvariation.report.console.judge_case", interrupted)
    before = _files(case)
    done = _run("judge", case / "control.csv", case / "recovered.csv", "--json", case / "case.json")
    assert done.exit_code == 130
    assert "Stopped." in done.stderr
    assert _files(case) == before


@pytest.mark.parametrize(
    "typed",
    [
        "judge control.csv recovered.csv --json kept",
        "judge control.csv recovered.csv --report kept.html",
        "fit control.csv kept",
        "score model.tv recovered.csv --out kept",
        "monitor control.csv recovered.csv --json kept",
        "database build control.csv --out kept.csv",
        "validate control.csv --json kept",
        "report control.csv --report kept.html",
    ],
)
def test_no_command_replaces_a_file_unless_told_to(case, monkeypatch, typed):
    monkeypatch.chdir(case)
    for name in ("kept", "kept.html", "kept.csv"):
        (case / name).write_text("a record\n")
    before = _files(case)
    done = _run(*typed.split())
    assert done.exit_code == 2
    assert "exists; give another name, or --overwrite to replace it" in " ".join(done.output.split())
    assert _files(case) == before


@pytest.mark.parametrize("option", ["--lead", "--family-wise", "--astm", "--within", "--controls", "--group"])
def test_fit_has_no_option_of_a_case_that_a_classifier_does_not_use(option):
    assert option not in _run("fit", "--help").output
    assert option in _run("judge", "--help").output
