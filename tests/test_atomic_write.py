"""Files are written completely or not at all, and never over what is read."""

import os
from pathlib import Path

import pytest

from transvariation.atomic_write import check_outputs, make_folder, replacing, write_text


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "case.json"
    path.write_text("old")

    def interrupted():
        with replacing(path) as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["case.json"]


def test_a_replaced_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "case.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "Größe\n")
    assert link.is_symlink()
    assert path.read_bytes() == "Größe\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to():
    write_text(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder") as missing:
        write_text(tmp_path / "none" / "case.json", "")
    assert missing.value.filename == str(tmp_path / "none")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_what_may_not_be_written_is_found_before_any_work(tmp_path):
    (tmp_path / "case.json").touch(mode=0o400)
    with pytest.raises(PermissionError):
        check_outputs([tmp_path / "case.json"])
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        make_folder(tmp_path)


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_an_input_is_not_replaced_under_another_name(tmp_path, link):
    table, other = tmp_path / "control.csv", tmp_path / "report.html"
    table.write_text("K\n1\n")
    link(table, other)
    with pytest.raises(ValueError, match="is read by this command and would be lost"):
        check_outputs([None, other], [b"no path", str(table)])
    check_outputs([None, tmp_path / "new.html", tmp_path / "case.json"], [table])
