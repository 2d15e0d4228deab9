"""What the page offers."""

from dataclasses import fields

import pytest

pytest.importorskip("starlette")


from transvariation.casework import CASE_FIELDS, METHODS, REDUCTIONS, CaseSettings
from transvariation.casework.settings import ROLES as ROLES_OF_COLUMNS


def test_what_can_be_chosen_is_that_of_the_settings(client):
    found = client.get("/api/choices").json()
    offered = {each["name"]: each for part in ("reading", "comparing") for each in found[part]}
    assert offered["method"]["choices"] == METHODS
    assert offered["reduce"]["choices"] == REDUCTIONS
    assert found["fields"] == CASE_FIELDS
    # Tables and variables have elements of their own on the page, the roles stand for columns, a range for the rest.
    columns = {"id_column", "fragment_column", "source_column", "roles"}
    own = {"sheet", "missing", "tables", "features", "ranges", "without", "log", "logged"}
    assert {each.name for each in fields(CaseSettings)} - set(offered) == columns | own | {
        "preprocess",
        "sensitivity",
        "case",
    }
    assert set(found["roles"]) == set(ROLES_OF_COLUMNS)
