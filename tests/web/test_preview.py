"""What the page shows of tables before they are judged: cells, problems, sheets, spectra."""

import io

import pandas as pd
import pytest

pytest.importorskip("starlette")

from tests.web.conftest import ROLES, for_tables, judge_on_page, p_values_of, upload

from transvariation.casework import judge
from transvariation.preprocessing import SNV
from transvariation.report.demo import demo_tables


def test_the_example_is_understood(client):
    answer = client.post("/api/example").json()
    assert answer["features"] == ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
    tables = demo_tables()
    names = {"control": "windows.csv", "recovered": "recovered.csv"}
    assert answer["files"] == names
    assert {which: table["objects"] for which, table in answer["tables"].items()} == {
        which: len(tables[name]) for which, name in names.items()
    }


def test_summary_rows_are_left_out_if_chosen(client, tables):
    with_mean = tables[1] + b"mean,1,2\n"
    refused = upload(client, tables[0], with_mean)
    assert refused.status_code == 422
    assert "choose “Leave out summary rows”" in refused.json()["problems"][0]["message"]
    read = upload(client, tables[0], with_mean, drop_summary_rows=True)
    assert p_values_of(judge_on_page(client, read.json()["case"], drop_summary_rows=True)) == [
        c.p_value for c in judge(*tables).conclusions
    ]


def test_advice_can_be_followed_on_the_page(client, tables):
    twice = b"id,K,Mg\nA,0.5,3.5\nA,0.6,3.4\n"
    answer = upload(client, tables[0], twice).json()
    assert answer["problems"][0]["message"].endswith("choose “fragment” as the role of this column")
    assert "source_column" not in str(answer)
    followed = upload(client, tables[0], twice.replace(b"id", b"source")).json()
    assert followed["tables"]["recovered"]["sources"] == 1
    odd = upload(client, tables[0], b"id,K,Mg\nA\x81,0.5,3.5\n").json()
    assert odd["problems"][0]["message"].endswith("; save the file as UTF-8")


def test_problems_name_file_row_and_column(client, tables):
    answer = upload(client, tables[0], b"id,K,Mg\nA,1,x\n")
    assert answer.status_code == 422
    problem = answer.json()["problems"][0]
    assert (problem["table"], problem["row"], problem["column"]) == ("recovered.csv", 2, "Mg")


def test_a_decimal_mark_that_was_asked_for_can_be_chosen(client):
    lines = [f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30)]
    control, recovered = ("id;RI;Na\n" + "".join(part) for part in (lines[1:], lines[:1]))
    refused = upload(client, control, recovered)
    assert refused.status_code == 422
    for problem in refused.json()["problems"]:
        assert "choose the comma under “Decimal mark”" in problem["message"]
        assert "decimal=" not in problem["message"]
    answer = upload(client, control, recovered, decimal=",").json()
    assert answer["tables"]["control"]["rows"][0]["cells"] == ["F1", "1.516", "13.607"]
    assert "the comma as decimal mark" in str(answer["tables"]["control"]["notes"])
    result = judge_on_page(client, answer["case"], decimal=",")
    expected = judge(control.encode(), recovered.encode(), decimal=",")
    assert p_values_of(result) == [c.p_value for c in expected.conclusions]


def test_each_table_may_have_its_own_decimal_mark(client):
    control = "id;RI;Na\n" + "".join(f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30))
    recovered = "id,RI,Na\nA,1.523,13.771\n"
    asked = upload(client, control, recovered).json()["problems"]
    assert {problem["table"] for problem in asked} == {"control.csv"}
    assert "choose the comma under “Decimal mark”" in asked[0]["message"]
    own = for_tables(control={"decimal": ","})
    case = upload(client, control, recovered, **own).json()["case"]
    result = judge_on_page(client, case, **own)
    assert result["inputs"]["known"][0]["measurements"]["RI"] == [1.515]
    assert result["conclusions"][0]["measurements"]["RI"] == [1.523]


def test_sheets_of_one_workbook_can_be_chosen(client, tables, book):
    refused = upload(client, book, tables[1], names=("book.xlsx", "recovered.csv"))
    assert refused.status_code == 422
    assert refused.json()["sheets"] == {"control": ["cover", *ROLES], "recovered": []}
    chosen = for_tables(control={"sheet": "control"}, recovered={"sheet": "recovered"})
    answer = upload(client, book, book, names=("book.xlsx", "book.xlsx"), **chosen).json()
    assert answer["warnings"] == []
    assert p_values_of(judge_on_page(client, answer["case"], **chosen)) == [
        c.p_value for c in judge(*tables).conclusions
    ]


def test_the_place_of_a_problem_is_shown_from_the_sheet_that_was_chosen(client, tables):
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer) as writer:
        pd.DataFrame({"id": ["A"], "K": [1], "Mg": [1]}).to_excel(writer, sheet_name="one", index=False)
        pd.DataFrame({"id": ["B"], "K": [1], "Mg": ["x"]}).to_excel(writer, sheet_name="two", index=False)
    names = ("control.csv", "book.xlsx")
    answer = upload(client, tables[0], buffer.getvalue(), names=names, **for_tables(recovered={"sheet": "two"})).json()
    assert answer["tables"]["recovered"]["rows"][0]["cells"] == ["B", "1", "x"]


def test_markup_in_cells_and_headers_comes_back_as_text(client, tables):
    evil = b"id,K,Mg,<img src=x onerror=alert(1)>\n<script>alert(1)</script>,1,2,3\n"
    answer = upload(client, tables[0], evil)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["tables"]["recovered"]["rows"][0]["cells"][0] == "<script>alert(1)</script>"


def test_two_tables_of_one_name_are_told_apart(client, tables):
    answer = upload(client, tables[0], b"id,K,Mg\nA,1,x\n", names=("glass.csv", "glass.csv"))
    assert answer.json()["problems"][0]["table"] == answer.json()["files"]["recovered"]


def test_the_place_of_a_problem_is_shown(client, tables):
    answer = upload(client, tables[0], b"id,K,Mg\nA,1,2\nB,1,x\n").json()
    assert answer["tables"]["recovered"]["header"] == ["id", "K", "Mg"]
    (row,) = answer["tables"]["recovered"]["rows"]
    assert (row["row"], row["cells"], list(row["marked"])) == (3, ["B", "1", "x"], ["2"])


def test_wide_table_is_described_in_few_bytes(client, spectra):
    answer = upload(client, *spectra)
    assert len(answer.content) < 8_000
    assert answer.json()["axis"] == [800, 1200]
    assert answer.json()["features"] == []
    assert [table["columns"] for table in answer.json()["tables"].values()] == [["id"], ["id"]]
    assert all("8 of 401 variables shown" in table["title"] for table in answer.json()["tables"].values())


def test_preview_shows_spectra_preprocessed_within_the_ranges(client, spectra):
    case = upload(client, *spectra).json()["case"]
    asked = {"ranges": [[850, 950], [1000, 1100.5]], "preprocess": "snv"}
    found = client.post(f"/api/cases/{case}/preview", json=asked).json()
    assert found["words"] == "202 of 401 variables. Drawn: 12 of 30 known and 6 of 6 new spectra."
    assert found["kinds"] == ["control"] * 12 + ["recovered"] * 6
    frames = [pd.read_csv(io.BytesIO(table), index_col=0) for table in spectra]
    (before,) = found["before"]
    # Every line is thinned to the smallest and the largest value of each interval: the extremes stay.
    last = frames[1].iloc[-1].to_numpy()
    assert (min(before["lines"][-1]), max(before["lines"][-1])) == pytest.approx((last.min(), last.max()), rel=1e-3)
    kept = [name for name in frames[1] if 850 <= float(name) <= 950 or 1000 <= float(name) <= 1100.5]
    expected = SNV().fit_transform(frames[1][kept])[-1]
    parts = found["after"]
    assert [part["axis"][0] for part in parts] == [850, 1000]
    assert max(max(part["lines"][-1]) for part in parts) == pytest.approx(expected.max(), rel=1e-3)
    assert client.post(f"/api/cases/{case}/preview", json={}).json()["after"] is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"ranges": [[1, 2]]}, "no variable lies in 1 to 2"),
        ({"preprocess": "snv,magic"}, "unknown preprocessing step"),
        ({"preprocess": "sg1:999"}, "needs at least 999"),
    ],
)
def test_preview_refuses_in_words(client, spectra, asked, words):
    case = upload(client, *spectra).json()["case"]
    answer = client.post(f"/api/cases/{case}/preview", json=asked)
    assert answer.status_code in (400, 422)
    assert words in answer.json()["problems"][0]["message"]
    assert client.post(f"/api/cases/{case}/preview", json=[1]).status_code == 400
    assert client.post(f"/api/cases/{case}/preview", content="[" * 9999).status_code == 400
    assert client.post("/api/cases/none/preview", json={}).status_code == 404


def test_the_third_table_is_previewed_with_its_roles_before_judging(client, tables):
    control = pd.read_csv(io.BytesIO(tables[0]))
    sources = pd.concat([control.assign(pane=f"P{i}") for i in range(3)]).rename(columns={"pane": "Xyz"})
    third = ("background", sources.drop(columns=control.columns[0]).to_csv(index=False).encode())
    answer = upload(client, *tables, third=third).json()
    assert "has no column that names the source" in " ".join(answer["warnings"])
    assert "Xyz" in answer["tables"]["background"]["columns"]
    given = for_tables(background={"roles": {"Xyz": "source"}})
    seen = upload(client, *tables, third=third, **given).json()
    assert seen["tables"]["background"]["sources"] == 3
    assert seen["tables"]["background"]["file"] == "background.csv"


def test_problems_of_the_third_table_are_found_before_judging(client, tables):
    answer = upload(client, *tables, third=("foreign", b"id,K,Mg\nA,1.5,x\nB,1.5,2.5\n"))
    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert (problem["table"], problem["row"], problem["column"]) == ("foreign.csv", 2, "Mg")
    assert answer.json()["tables"]["foreign"]["rows"][0]["cells"] == ["A", "1.5", "x"]


def test_a_third_table_with_fewer_variables_is_shown_so_that_others_can_be_left_out(client, tables):
    answer = upload(client, *tables, third=("foreign", b"id,K\nA,1.5\nB,1.7\n"))
    assert answer.status_code == 200
    assert "Mg" in " ".join(answer.json()["warnings"])
    result = judge_on_page(client, answer.json()["case"], features=["K"])
    assert result["inputs"]["foreign"]["file"] == "foreign.csv"


def test_the_row_of_the_column_names_can_be_chosen_for_each_table(client, tables):
    lines = b"Laboratory 5\nmeasured, by hand\n"
    own = for_tables(recovered={"header_row": 3})
    seen = upload(client, tables[0], lines + tables[1], **own).json()
    assert seen["tables"]["recovered"]["header"] == ["row name", "K", "Mg"]
    assert p_values_of(judge_on_page(client, seen["case"], **own)) == [c.p_value for c in judge(*tables).conclusions]
    faulty = upload(client, tables[0], lines + b"id,K,Mg\nA,1.5,x\n", **own).json()
    assert faulty["tables"]["recovered"]["rows"][0]["cells"] == ["A", "1.5", "x"]
