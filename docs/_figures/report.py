"""Take the picture of the report of the demonstration, for the landing page: `make picture-page`. It needs Chromium."""

import shutil
import tempfile
from pathlib import Path

import demonstration
from playwright.sync_api import sync_playwright
from rich.console import Console

from transvariation.report.demo import demo

STATIC = Path(__file__).parents[1] / "_static"
SIZE = {"width": 760, "height": 955}  # the shape of the picture of the page

if __name__ == "__main__":
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report, *_ = demo(Path(folder), Console(quiet=True))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, device_scale_factor=1100 / 760)
        page.goto(report.as_uri())
        page.screenshot(path=STATIC / "report.png")
        browser.close()
    for name in ("report.png", "page.png"):
        demonstration.stamp(STATIC / name)
