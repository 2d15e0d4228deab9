"""What the page shows and saves of a result."""

import base64
import io
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("starlette")
from tests.casework.conftest import make_glass
from tests.web.conftest import ROLES, judge_on_page, p_values_of, upload

from transvariation import load_glass
from transvariation.casework import CaseResult, judge
from transvariation.report.case_text import conclusion_frame
from transvariation.report.wording.cautions import warning_texts
from transvariation.report.wording.numbers import format_p
from transvariation.report.wording.statements import ALONE, headline, statement
from transvariation.web.views import save


@pytest.fixture(scope="module")
def clusters(client):
    """A case by a method with several thresholds."""
    glass = load_glass()
    tables = [table[["Na", "Al"]].to_csv().encode() for table in (glass.control, glass.recovered)]
    case = upload(client, *tables).json()["case"]
    judge_on_page(client, case, method="pam")
    return case, tables


@pytest.mark.parametrize("share", [0.6, 0.9, 0.97])
def test_view_holds_the_conclusions_of_the_library_at_the_sensitivity(client, clusters, share):
    case, tables = clusters
    expected = judge(*tables, method="pam", sensitivity=share)
    view = client.get(f"/api/cases/{case}/view?sensitivity={share}").json()
    assert view["headline"] == headline(expected)
    assert view["warnings"] == warning_texts(expected)
    assert p_values_of(view) == [c.p_value for c in expected.conclusions]
    assert [c["accepted"] for c in view["conclusions"]] == [not c.differs for c in expected.conclusions]
    assert [c["excluded"] for c in view["conclusions"]] == [c.accepted is False for c in expected.conclusions]
    alone = conclusion_frame(expected, 4).get(ALONE, [""] * len(expected.conclusions))
    assert [c["alone"] for c in view["conclusions"]] == list(alone)


@pytest.mark.parametrize("share", [0.6, 0.97])
def test_evidence_on_a_fragment_is_that_of_the_library_at_the_sensitivity(client, clusters, share):
    case, tables = clusters
    result = judge(*tables, method="pam", sensitivity=share)
    expected = result.conclusions[3]
    where = f"/api/cases/{case}/evidence"
    found = client.get(where, params={"key": 3, "sensitivity": share}).json()
    assert found["statements"][0] == statement(expected, result)
    (table,) = found["parts"]
    rows = pd.DataFrame(table["rows"], columns=[column["name"] for column in table["columns"]])
    assert list(rows["variable"]) == [reason.variable for reason in expected.reasons]
    assert list(rows["p-value"]) == [format_p(reason.p_values["control"]) for reason in expected.reasons]
    assert [mark == "against" for mark in table["marks"]] == [reason.evidence for reason in expected.reasons]
    assert [text.endswith("differs by itself") for text in rows["reading"]] == [r.evidence for r in expected.reasons]
    for key in ("x", "-1", "1000", "1.5", ""):
        unknown = client.get(where, params={"key": key})
        assert unknown.status_code == 422
        assert unknown.json()["problems"][0]["message"].startswith(f"There is no conclusion {key!r}")


def test_points_of_the_figure_are_the_means_of_the_fragments(client, judged, tables):
    case, _ = judged
    found = client.get(f"/api/cases/{case}/points", params={"x": "Mg", "y": "K"}).json()
    for table, role in zip(tables, ROLES, strict=True):
        frame = pd.read_csv(io.BytesIO(table), dtype={0: str})
        assert [tuple(point[:3]) for point in found[role]] == list(
            zip(frame.iloc[:, 0], frame["Mg"], frame["K"], strict=True)
        )
    assert client.get(f"/api/cases/{case}/points", params={"x": "Mg", "y": "Pb"}).status_code == 422
    assert client.get(f"/api/cases/{case}/nothing").status_code == 404


@pytest.mark.parametrize("kind", ["html", "json", "csv", "pdf"])
def test_result_is_saved_as_a_file(client, judged, kind):
    case, result = judged
    answer = client.get(f"/api/cases/{case}/file.{kind}?sensitivity=0.5")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    if kind == "json":
        excluded = sum(not c["accepted"] for c in answer.json()["conclusions"])
        assert excluded >= sum(not c["accepted"] for c in result["conclusions"])


def test_no_id_becomes_a_formula_in_the_saved_conclusions():
    glass = load_glass()
    other = glass.recovered[["K", "Mg"]].iloc[:2].rename(index={glass.recovered.index[0]: "=cmd|' /C calc'!A0"})
    result = judge(glass.control[["K", "Mg"]], other)
    lines = base64.b64decode(save(result, "csv")["content"]).decode().splitlines()
    assert lines[1].startswith("'=cmd|' /C calc'!A0,excluded,")


def test_spectra_are_judged_and_explained_as_by_the_library(client, spectra):
    case = upload(client, *spectra).json()["case"]
    options = {"preprocess": "snv", "ranges": [[850, 1200]]}
    judge_on_page(client, case, **options)
    expected = judge(*spectra, **options)
    view = client.get(f"/api/cases/{case}/view")
    assert len(view.content) < 20_000
    assert view.json()["spectral"]
    assert p_values_of(view.json()) == [c.p_value for c in expected.conclusions]
    found = client.get(f"/api/cases/{case}/evidence", params={"key": 5}).json()
    last = expected.conclusions[-1]
    assert [row[0] for row in found["parts"][0]["rows"]] == [str(region) for region in last.regions]
    assert any(low < 1150 < high for low, high in found["shaded"])
    band = expected.spectra.band(0.9)
    (part,) = found["spectrum"]["parts"]
    assert min(part["band"][0]) == pytest.approx(band.lower.min(), rel=1e-3)
    seen = client.get(f"/api/cases/{case}/spectra").json()
    assert seen["drawn"] == "6 of 6 new spectra are drawn."
    outside = [(c.spectrum < band.lower) | (c.spectrum > band.upper) for c in expected.excluded]
    largest = max(max(part["lines"][0]) for part in seen["importance"]["parts"])
    assert largest == pytest.approx(100 * np.mean(outside, axis=0).max())
    wider = client.get(f"/api/cases/{case}/spectra?sensitivity=0.6").json()
    assert wider["range"] == seen["range"]  # the scale stays while the slider moves


def test_figures_are_drawn_and_saved(client, tables, spectra):
    case = upload(client, *tables).json()["case"]
    judge_on_page(client, case)
    kinds = client.get(f"/api/cases/{case}/view").json()["figures"]
    assert kinds == ["acceptance"]  # of six fragments, the number of extreme ones says nothing
    for kind in kinds:
        found = client.get(f"/api/cases/{case}/figure", params={"kind": kind}).json()
        assert found["svg"].rstrip().endswith("</svg>")
        assert found["words"].lower().startswith(kind)
    assert client.get(f"/api/cases/{case}/figure?kind=other").status_code == 422
    names = {"acceptance.svg"}
    wide = upload(client, *spectra).json()["case"]
    judge_on_page(client, wide)
    for each, more in ((case, {"fragments.svg"}), (wide, {"spectra.svg", "importance.svg"})):
        content = client.get(f"/api/cases/{each}/file.zip").content
        assert set(zipfile.ZipFile(io.BytesIO(content)).namelist()) == names | more


def test_known_foreign_samples_are_a_third_table(client, spectra):
    answer = upload(client, *spectra, third=("foreign", None))
    assert answer.json()["problems"] == [{"message": "Choose the foreign table, or none."}]
    case = upload(client, *spectra, third=("foreign", spectra[1])).json()["case"]
    judge_on_page(client, case, preprocess="snv")
    assert {"foreign", "type_ii"} <= set(client.get(f"/api/cases/{case}/view").json()["figures"])
    found = client.get(f"/api/cases/{case}/figure?kind=foreign").json()
    assert found["words"].startswith("Sensitivity and specificity over the threshold")
    assert "<svg" in found["svg"]
    content = client.get(f"/api/cases/{case}/file.zip").content
    assert {"foreign.svg", "type_ii.svg"} <= set(zipfile.ZipFile(io.BytesIO(content)).namelist())


@pytest.mark.parametrize(
    ("number", "name"),
    [
        ("2026/17 <b>", "2026-17-b"),
        ("..", "transvariation-case"),
        ("", "transvariation-case"),
        ("Ä-5", "5"),
        ("a\r\nb", "a-b"),
    ],
)
def test_saved_files_are_named_after_the_case_number(client, case_of_glass, number, name):
    judge_on_page(client, case_of_glass, case={"case_number": number})
    answer = client.get(f"/api/cases/{case_of_glass}/file.csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
    assert client.get(f"/api/cases/{case_of_glass}/view").json()["name"] == name


def test_several_control_sources_are_a_matrix_and_one_of_them_is_shown(client):
    table = make_glass(24, 4, 2, np.random.default_rng(7))
    last = table["fragment"] == "4"
    tables = {
        "control": table[table["pane"].isin(["P0", "P1"]) & ~last],
        "recovered": table[table["pane"].isin(["P0", "P3"]) & last],
        "background": table[~table["pane"].isin(["P0", "P1", "P3"])],
    }
    files = {which: (f"{which}.csv", each.to_csv(index=False)) for which, each in tables.items()}
    name = client.post("/api/tables", files=files, data={"third": "background", "settings": '{"log": true}'}).json()[
        "case"
    ]
    client.post(f"/api/cases/{name}/judge", json={"log": True})
    while client.get(f"/api/cases/{name}").json()["state"] == "running":
        time.sleep(0.1)
    first = client.get(f"/api/cases/{name}/view").json()
    assert first["headline"] == "1 of 2 recovered fragments excluded from all 2 control sources."
    table = first["matrix"]["parts"][0]
    assert [column["name"] for column in table["columns"]] == ["fragment", "P0", "P1", "any of these"]
    assert [row[1].split(" (")[0] for row in table["rows"]] == ["not excluded", "excluded"]
    second = client.get(f"/api/cases/{name}/view?sensitivity=0.9&source=1").json()
    assert second["matrix"]["source"] == 1
    assert [row["excluded"] for row in first["conclusions"]] == [False, True]
    assert [row["excluded"] for row in second["conclusions"]] == [True, True]
    assert client.get(f"/api/cases/{name}/evidence?key=0").json()["parts"]
    assert client.get(f"/api/cases/{name}/view?source=2").status_code == 422
    assert client.get(f"/api/cases/{name}/file.csv").text.startswith("fragment,P0,P1,any of these")
    assert len(CaseResult.from_dict(client.get(f"/api/cases/{name}/file.json").json()).cases) == 2
