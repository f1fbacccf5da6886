"""The picture of the Compare page in the README, taken anew from a benchmark of yours.

Run: ``python benchmarks/pictures.py HOME docs/compare.png`` (needs the ``dev`` extra and Chromium); HOME is a data
folder, whose newest benchmark is shown. It is copied first, so nothing in it changes. The other options are for looking
at the page in other ways.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
IDLE = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
WITHIN = 90.0  # seconds for the dashboard to answer, and for a page to be drawn
SETTLED = 2000  # milliseconds until charts have their last size


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=1340, help="0: the whole page, however long.")
    parser.add_argument("--query", default="axis=usd", help="What follows the question mark in the address.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, log = Path(folder) / "home", Path(folder) / "log"
        shutil.copytree(options.home, home)
        command = [str(Path(sys.executable).with_name("koderz")), "ui", "--no-browser", "--port", "0"]
        with log.open("wb") as output:
            server = subprocess.Popen([*command, "--data-dir", str(home)], stdout=output, stderr=subprocess.STDOUT)
            try:
                _take(f"{_url(log)}/compare?{options.query}", options)
            finally:
                server.terminate()
                server.wait(WITHIN)


def _url(log: Path) -> str:
    last = time.monotonic() + WITHIN
    while time.monotonic() < last:
        if said := re.search(r"koderz is at (\S+)", log.read_text()):
            return said[1]
        time.sleep(0.2)
    raise SystemExit(f"No dashboard after {WITHIN:.0f} s: {log.read_text()}")


def _take(url: str, options: argparse.Namespace) -> None:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=root)
        size = {"width": options.width, "height": options.height or 1000}
        page = browser.new_page(viewport=size, color_scheme="dark" if options.dark else "light")
        page.set_default_timeout(WITHIN * 1000)
        page.goto(url)
        page.wait_for_selector(IDLE, state="attached")
        page.get_by_role("heading", name="What differs").wait_for()
        if not options.height:  # the page scrolls in a part of its own
            tall = page.evaluate("document.querySelector('[data-testid=\"stMain\"]').scrollHeight")
            page.set_viewport_size({**size, "height": tall + 40})
        page.wait_for_timeout(SETTLED)
        page.screenshot(path=options.picture)
        browser.close()


if __name__ == "__main__":
    main()
