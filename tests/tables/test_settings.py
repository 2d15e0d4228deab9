"""Wrong settings of a table are named."""

import io

import pytest
from tests.tables.conftest import problems_of_file

from transvariation.tables import SettingsError, read_table


def test_given_options_that_are_wrong():
    with pytest.raises(SettingsError, match="did you mean 'delimiter'"):
        read_table(b"Na\n1\n", delimiter_=";")
    assert "does not belong to a text in 'ascii'" in problems_of_file("Nä\n1\n".encode(), encoding="ascii")[0]
    assert "cannot be opened: No such file" in problems_of_file("no-such-file.csv")[0]
    with pytest.raises(TypeError, match="not list"):
        read_table([[1, 2]])
    with pytest.raises(TypeError, match="not StringIO"):
        read_table(io.StringIO("Na\n1\n"))
