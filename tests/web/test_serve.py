"""The page's command: it ends as it says."""

import os
import signal
import subprocess
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn")


def _ask(where):
    """Wait for an answer, whatever it says: then the page is up."""
    connection = HTTPConnection(where, timeout=60)
    connection.request("GET", "/")
    connection.getresponse().read()
    connection.close()


def test_a_termination_ends_the_page_and_its_workers(tmp_path):
    """A worker that starts after the page has ended would look for a folder that may be gone."""
    command = [sys.executable, "-m", "transvariation", "serve", "--port", "0", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    folder = tmp_path / "folder"
    folder.mkdir()
    with subprocess.Popen(command, text=True, cwd=folder, **pipes) as page:
        _ask(urlsplit(page.stdout.readline().strip()).netloc)
        page.terminate()
        page.wait(timeout=60)
        folder.rmdir()
        said, erred = page.communicate(timeout=60)
    assert page.returncode == 0
    assert said.strip().endswith("The page is closed.")
    assert erred == ""


@pytest.mark.parametrize("answered", [False, True])
def test_ctrl_c_ends_the_page(answered):
    command = [sys.executable, "-m", "transvariation", "serve", "--port", "0", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as page:
        address = page.stdout.readline().strip()
        assert "Ctrl-C ends the page" in page.stdout.readline()
        if answered:
            _ask(urlsplit(address).netloc)
        os.killpg(page.pid, signal.SIGINT)  # as a terminal does: to the command and what it has started
        try:
            said, erred = page.communicate(timeout=60)
        finally:
            page.kill()
    assert page.returncode == 0, erred
    assert said.strip() == "The page is closed."
    assert "Aborted" not in erred
