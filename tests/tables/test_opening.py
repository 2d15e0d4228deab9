"""Files are opened by what they contain, and fingerprinted."""

from tests.tables.conftest import problems_of_file

from transvariation.tables import read_table

PLAIN = "id,Na,Mg\nF1,13.64,4.49\nF2,13.89,3.6\nF3,13.53,3.55\n"


VALUES = [[13.64, 4.49], [13.89, 3.6], [13.53, 3.55]]


def test_the_kind_of_file_is_known_by_content_not_by_name(tmp_path):
    (tmp_path / "really.xlsx").write_text(PLAIN)
    assert read_table(tmp_path / "really.xlsx").X.tolist() == VALUES


def test_fingerprint_is_that_of_the_bytes():
    import hashlib

    assert read_table(PLAIN.encode()).sha256 == hashlib.sha256(PLAIN.encode()).hexdigest()


def test_folders_and_pipes(tmp_path):
    import os

    assert "this is a folder, pipe or device" in problems_of_file(tmp_path)[0]
    os.mkfifo(tmp_path / "pipe")
    assert "this is a folder, pipe or device" in problems_of_file(tmp_path / "pipe")[0]  # rather than waiting for ever


def test_a_line_without_end(monkeypatch):
    monkeypatch.setattr("transvariation.tables.text.LONGEST_ROW", 2 << 20)
    assert "row 2: a row has more than" in problems_of_file(b"Na\n" + b"1" * (5 << 20))[0]
