"""A running page in a real browser: `make test-page`. Screenshots go to build/screenshots."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"phone": 390, "tablet": 820, "wide": 1280}
TIMEOUT = float(os.environ.get("PAGE_TIMEOUT", "30"))  # seconds; more on a busy machine


@pytest.fixture(scope="session")
def address():
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "transvariation", "serve", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
        server.communicate(timeout=60)


@pytest.fixture(scope="session")
def chromium():
    api = pytest.importorskip("playwright.sync_api", reason="make test-page installs Playwright")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no Chromium here; make test-page installs it where it may")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, address):
    """Open the page; at the end, check that the browser reported no error and that no request left this computer."""
    contexts, faults = [], []

    def opening(scheme="light", width="wide", **options):
        context = chromium.new_context(
            viewport={"width": WIDTHS[width], "height": 900}, color_scheme=scheme, accept_downloads=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * TIMEOUT)
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: faults.append(request.url) if _outside(request.url) else None)
        page.goto(address)
        page.wait_for_selector("main:not([inert])")  # the page's script has run
        return page

    yield opening
    for context in contexts:
        context.close()
    # The browser reports a response with status 422, as a refused table gets, as an error.
    assert [fault for fault in faults if "status of 422" not in fault] == []


def _outside(url):
    return not url.startswith(("http://127.0.0.1:", "data:", "blob:http://127.0.0.1:"))


@pytest.fixture
def page(open_page):
    return open_page()


@pytest.fixture(scope="session")
def folder():
    path = ROOT / "build" / "screenshots"
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="session")
def screenshot(folder):
    def taking(page, name, full=True):
        page.screenshot(path=folder / f"{name}.png", full_page=full)

    return taking
