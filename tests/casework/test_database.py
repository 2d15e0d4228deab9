"""Databases: many tables in, one checked file out."""

import json

import numpy as np
import pandas as pd
import pytest

from transvariation.casework import CaseError, Database, SettingsError, judge, verify


def measurements(n_sources=40, n_fragments=3, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(2, 0.3, size=(n_sources, 2))
    rows = [
        {"pane": f"P{i:02}", "piece": f"{j}", "rep": f"{k}", "Mg": 10 ** value[0], "Al": 10 ** value[1]}
        for i, center in enumerate(centers)
        for j in range(n_fragments)
        for k in range(2)
        for value in [center + rng.normal(0, 0.01, 2)]
    ]
    return pd.DataFrame(rows).assign(maker=lambda t: np.where(t["pane"] < "P20", "A", "B"))


def build(table, **options):
    return Database.build(table, stratum_column="maker", fragment_column="piece", source_column="pane", **options)


def test_levels_and_strata_are_kept():
    database = build(measurements(), population="panes of two makers")
    described = database.describe()
    assert (described["sources"], described["fragments"], described["measurements"]) == (40, 120, 240)
    assert described["replicates per fragment"] == "2"
    assert described["strata"] == {"A": 20, "B": 20}
    assert database.variables == ("Mg", "Al")
    assert database.strata["P19"] == "A"
    assert database.without(["P00", "P01"]).sources[0] == "P02"


def test_a_written_database_is_read_back_bit_by_bit(tmp_path):
    database = build(measurements(), population="panes", laboratory="L", instrument="LA-ICP-MS")
    table, description = database.write(tmp_path / "panes.csv")
    for path in (table, description):
        again = Database.read(path)
        pd.testing.assert_frame_equal(again.frame, database.frame, check_exact=True)
        assert again.about == {"population": "panes", "laboratory": "L", "instrument": "LA-ICP-MS"}
        assert again.sha256 == database.sha256
    assert json.loads(description.read_text())["schema"] == "transvariation-database/1"
    table.write_text(table.read_text().replace("P00", "P99", 1))
    with pytest.raises(CaseError, match="was changed after"):
        Database.read(table)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"sha256": None}, "was changed after"),
        ({"units": None}, "is damaged"),
        ({"tables": 5}, "is damaged"),
        ({"tables": [{}]}, "is damaged"),
        ({"variables": None}, "is damaged"),
        ({"schema": "another/1"}, "does not describe a database"),
    ],
)
def test_a_damaged_description_is_named(tmp_path, changed, words):
    _, description = build(measurements()).write(tmp_path / "panes.csv")
    description.write_text(json.dumps(json.loads(description.read_text()) | changed))
    with pytest.raises(CaseError, match=words):
        Database.read(description)


def test_two_tables_become_one_if_their_variables_and_units_agree():
    table = measurements()
    database = build([table[:120], table[120:]])
    assert len(database.sources) == 40
    assert [each["rows"] for each in database.tables] == [120, 120]
    with pytest.raises(CaseError, match="lacks Al"):
        build([table[:120], table[120:].drop(columns="Al")])
    with pytest.raises(CaseError, match="lacks Al"):
        build([table[:120].drop(columns="Al"), table[120:]])
    fewer = build([table[:120], table[120:].drop(columns="Al")], features=["Mg"])
    assert fewer.variables == ("Mg",)
    np.testing.assert_array_equal(fewer.frame["Mg"], table["Mg"])
    with pytest.raises(CaseError, match="has no variable Sr"):
        build(table, features=["Sr"])
    thousand = table[120:].assign(Mg=lambda t: 1000 * t["Mg"])
    assert [(f.check, f.variables) for f in build([table[:120], thousand]).check() if f.check == "units"] == [
        ("units", ("Mg",))
    ]


def test_spellings_of_one_unit_agree_and_other_units_are_refused():
    table = measurements().rename(columns={"Mg": "Mg (ppm)"})
    with_unit = {unit: table[120:].rename(columns={"Mg (ppm)": f"Mg ({unit})"}) for unit in ("µg/g", "wt%")}
    assert build([table[:120], with_unit["µg/g"]]).units == {"Mg": "ppm"}
    with pytest.raises(CaseError, match="different units for Mg"):
        build([table[:120], with_unit["wt%"]])


def test_a_clean_database_has_no_findings():
    assert build(measurements()).check() == ()


def test_what_is_wrong_is_found_and_located():
    table = measurements()
    table.loc[5, ["Mg", "Al"]] = table.loc[200, ["Mg", "Al"]].to_numpy()
    table.loc[30, "Mg"] *= 4
    table.loc[table["pane"] == "P10", "Al"] *= 1e4
    table.loc[50, "rep"] = "1"
    table.loc[60, "Mg"] = np.nan
    found = {finding.check: finding for finding in build(table).check()}
    assert set(found) == {"duplicates", "outlying replicate", "outlying source", "replicates", "missing"}
    assert set(found["duplicates"].sources) == {"P00", "P33"}
    assert "P05" in found["outlying replicate"].sources
    assert found["outlying source"].sources == ("P10",)
    assert found["missing"].variables == ("Mg",)


def test_drift_over_the_order_of_measurement_is_found():
    table = measurements().assign(order=np.arange(240))
    table["Mg"] *= 10 ** (table["order"] % 6 * 0.02)
    found = {finding.check: finding for finding in build(table, roles={"order": "order"}).check()}
    assert found["drift"].variables == ("Mg",)


def test_sources_measured_one_after_another_do_not_drift():
    table = measurements(seed=3)
    order = np.unique(table["pane"], return_inverse=True)[1]  # the sources differ, and each has one date
    assert build(table.assign(order=order), roles={"order": "order"}).check() == ()


def test_a_gap_does_not_change_the_scale_of_the_checks():
    table = measurements()
    table.loc[table["pane"] == "P10", "Al"] *= 1e3
    table.loc[60, "Mg"] = np.nan
    assert [finding.check for finding in build(table).check()] == ["outlying source", "missing"]


def test_a_table_without_sources_and_a_misspelt_option_are_refused():
    with pytest.raises(CaseError, match="no column that names the source"):
        Database.build(measurements()[["Mg", "Al"]])
    with pytest.raises(SettingsError, match="did you mean 'source_column'"):
        Database.build(measurements(), source_colum="pane")


def test_a_database_is_a_background_by_object_and_by_path(tmp_path):
    table = measurements()
    database = build(table, population="panes of two makers").without(["P00"])
    path, _ = database.write(tmp_path / "panes.csv")
    own = table[table["pane"] == "P00"].drop(columns=["maker", "pane"])
    control, recovered = tmp_path / "control.csv", tmp_path / "recovered.csv"
    own[own["piece"] != "2"].to_csv(control, index=False)
    own[own["piece"] == "2"].to_csv(recovered, index=False)
    results = [judge(control, recovered, background=each, log=True) for each in (database, str(path))]
    assert len({result.conclusions[0].p_value for result in results}) == 1
    assert results[0].conclusions[0].basis == "background"
    assert results[1].inputs.background["population"] == "panes of two makers"
    (tmp_path / "case.json").write_text(results[1].to_json())
    assert verify(tmp_path / "case.json").confirmed
    path.write_text(path.read_text().replace("P01", "P99", 1))
    assert [table.state for table in verify(tmp_path / "case.json").tables] == ["same", "same", "changed"]


def test_a_database_of_logarithms_needs_a_case_of_logarithms():
    table = measurements()
    logged = table.assign(Mg=np.log10(table["Mg"]), Al=np.log10(table["Al"]))
    database = build(logged, logged=True)
    own = table[table["pane"] == "P00"].drop(columns=["maker", "pane"])
    with pytest.raises(CaseError, match="holds logarithms"):
        judge(own[own["piece"] != "2"], own[own["piece"] == "2"], background=database)
