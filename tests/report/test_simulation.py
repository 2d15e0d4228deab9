"""The page of the simulation study."""

import numpy as np
import pandas as pd

from transvariation.report.simulation import write_simulation_page
from transvariation.studies.claims import listed


def test_the_report_writes_all_files(small_study, tmp_path):
    table = small_study(1)
    path = write_simulation_page(table.assign(seconds=0.0), tmp_path, {"command": "x", "seed": "0"})
    html = path.read_text()
    assert "Scenario (a)" in html
    assert f"On average: {listed(table.groupby('method')['sensitivity'].mean())}." in html
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    names = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert {"index.html", "simulation.csv", "claims.csv", "provenance.json"} <= names
    assert {"figures/scenario_a.png", "figures/scenario_a.svg"} <= names
    assert np.isfinite(pd.read_csv(tmp_path / "simulation.csv")["auc"]).all()
