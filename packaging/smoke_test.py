"""Try an installed package: import it, run the demo, ask the local page. Needs nothing from the repository."""

import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import transvariation

COMMAND = [sys.executable, "-m", "transvariation"]


def check_import() -> None:
    """Load every public name and the packaged data."""
    assert "site-packages" in transvariation.__file__, transvariation.__file__
    for name in transvariation.__all__:
        getattr(transvariation, name)
    assert len(transvariation.load_glass().all) == 214


def check_demo(folder: str) -> None:
    """Run the demo; it must leave a report."""
    subprocess.run([*COMMAND, "demo"], cwd=folder, check=True)
    assert list(Path(folder).rglob("*.html")), "the demo wrote no report"


def check_page(folder: str) -> None:
    """Start the local page and fetch it by the address that it prints first."""
    command = [*COMMAND, "serve", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            address = re.search(r"http://\S+", line)
            assert address, f"the first line names no address: {line!r}"
            # The address holds a token, for which the page returns a cookie.
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(address[0], timeout=30) as page:
                assert b"transvariation" in page.read()
        finally:
            server.terminate()
            server.communicate(timeout=60)


if __name__ == "__main__":
    check_import()
    with tempfile.TemporaryDirectory() as folder:
        check_demo(folder)
        check_page(folder)
    print(f"transvariation {transvariation.__version__} works as installed")
