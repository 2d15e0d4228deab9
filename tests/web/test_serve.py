"""The page's command: it ends as it says."""

import os
import signal
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
from tests.web.conftest import wait_for_page

pytest.importorskip("uvicorn")


def test_a_termination_ends_the_page_and_its_workers(tmp_path):
    """A worker that starts after the page has ended would look for a folder that may be gone."""
    command = [sys.executable, "-m", "transvariation", "serve", "--port", "0", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    folder = tmp_path / "folder"
    folder.mkdir()
    with subprocess.Popen(command, text=True, cwd=folder, **pipes) as page:
        wait_for_page(urlsplit(page.stdout.readline().strip()).netloc)
        page.terminate()
        page.wait(timeout=60)
        folder.rmdir()
        said, erred = page.communicate(timeout=60)
    assert page.returncode == 0
    assert said.strip().endswith("The page is closed.")
    assert erred == ""


def _helpers(page):
    """List the processes that a page has started and that still run."""
    found = subprocess.run(["ps", "-o", "pid=,stat=", "--sid", str(page.pid)], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if int(line.split()[0]) != page.pid and "Z" not in line.split()[1]]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there are no signals and no ps here")
@pytest.mark.parametrize("ending", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_nothing_remains_of_a_page_that_was_ended(served, tmp_path, ending):
    page, where = served
    wait_for_page(where)
    deadline = time.monotonic() + 60
    while not _helpers(page) and time.monotonic() < deadline:
        time.sleep(0.05)
    page.send_signal(getattr(signal, ending))
    page.communicate(timeout=60)
    while _helpers(page) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _helpers(page) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows ends a process without telling it")
def test_a_page_whose_output_is_closed_ends_without_words(served):
    page, where = served
    wait_for_page(where)
    page.stdout.close()
    page.terminate()
    assert page.stderr.read() == ""
    page.wait(timeout=60)


@pytest.mark.parametrize("answered", [False, True])
def test_ctrl_c_ends_the_page(answered):
    command = [sys.executable, "-m", "transvariation", "serve", "--port", "0", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as page:
        address = page.stdout.readline().strip()
        assert "Ctrl-C ends the page" in page.stdout.readline()
        if answered:
            wait_for_page(urlsplit(address).netloc)
        os.killpg(page.pid, signal.SIGINT)  # as a terminal does: to the command and what it has started
        try:
            said, erred = page.communicate(timeout=60)
        finally:
            page.kill()
    assert page.returncode == 0, erred
    assert said.strip() == "The page is closed."
    assert "Aborted" not in erred
