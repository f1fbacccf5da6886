"""Screenshots of every page in light mode, in dark mode and on a phone, written to ``docs/images``.

Run: ``python benchmarks/pictures.py`` (needs the ``dev`` extra and Chromium). The pages show the example benchmark or,
with ``--home``, the newest one in a copy of that data folder, which stays unchanged. ``--study`` repeats the pages of
results with the study in ``docs/study``. For single pages use ``--only compare,live``; ``--whole`` shows the full
length of a page.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

from looking import WITHIN, browser, dashboard
from PIL import Image
from playwright.sync_api import Browser, Page

from koderz_core import open_workspace

DOCS = Path(__file__).parents[1] / "docs"
IMAGES, STUDY60 = DOCS / "images", DOCS / "study" / "journals" / "bench_20a02f27b685.jsonl.gz"
OF_RESULTS = "experiment,compare,problems,statistics"
KODERZ = str(Path(sys.executable).with_name("koderz"))
PLACE = Path(".local/share/koderz")  # of the data folder in a home folder
LENT = {"models": "KODERZ_MODELS_DIR", "datasets": "KODERZ_DATASETS_DIR"}  # folders of the data folder
IDLE = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
MAIN = '[data-testid="stMain"]'
SETTLED = 2000  # milliseconds until charts have their last size
COLOURS, ROUNDS = 256, 3  # of a picture, and to choose them: small signs keep theirs at a third of the bytes


@dataclass(frozen=True, slots=True)
class Look:
    """One way to view a page; sizes in pixels, ``tallest``: a longer page is cut there."""

    name: str
    dark: bool
    width: int
    tallest: int


LOOKS = (Look("light", False, 1440, 1400), Look("dark", True, 1440, 1400), Look("narrow", False, 390, 1800))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home", type=Path, help="A data folder instead of the example benchmark.")
    parser.add_argument("--study", action="store_true", help="Show the study, and only the pages of results.")
    parser.add_argument("--into", type=Path, default=IMAGES)
    parser.add_argument("--only", default="", help="Pages, separated by commas.")
    parser.add_argument("--whole", action="store_true", help="Do not cut long pages.")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        person = Path(folder)  # whose home folder it is, so that pictures show ~ and nothing of this machine
        home = person / PLACE
        addresses = _pages(home, _unpacked(person / "study") if options.study else options.home)
        _lend(home)
        _remember(home)
        wanted = (options.only or (OF_RESULTS if options.study else ",".join(addresses))).split(",")
        with dashboard(home, person / "log", HOME=str(person)) as served, browser() as opened:
            for name in wanted:
                for look in LOOKS:
                    picture = _take(opened, f"{served.url}/{addresses[name]}", look, whole=options.whole)
                    _keep(picture, options.into / f"{name}-{look.name}.png")


def _unpacked(folder: Path) -> Path:
    """A data folder with the journals that answer the study's question."""
    (folder / "journals").mkdir(parents=True)
    (folder / "journals" / STUDY60.stem).write_bytes(gzip.decompress(STUDY60.read_bytes()))
    return folder


def _pages(home: Path, other: Path | None) -> Mapping[str, str]:
    """Prepare the data folder; the address of every page, each about the newest benchmark."""
    if other:
        shutil.copytree(other, home, symlinks=True)
    with open_workspace(home=home) as workspace:
        if not other:
            workspace.upkeep.open_example()
        newest = workspace.results.benchmarks()[0].id
        rows = workspace.results.progress(newest).experiments
        told = max(rows, key=lambda row: (row.shown == "solved", row.iterations))  # the longest that came to something
    return {
        "overview": "",
        "launch": "launch",
        "live": "live",
        "experiment": f"experiment?experiment={told.id}",
        "compare": "compare?axis=usd",
        "problems": "problems",
        "statistics": "statistics",
        "export": "export",
        "workbench": "workbench",
        "network": "network",
        "models": "models",
        "memory": "memory",
        "settings": "settings",
    }


def _lend(home: Path) -> None:
    """Link weights and datasets from elsewhere into the data folder, to their default places."""
    for name, variable in LENT.items():
        if (there := os.environ.get(variable)) and not (home / name).exists():
            (home / name).symlink_to(Path(there).resolve(), target_is_directory=True)


def _remember(home: Path) -> None:
    """Fill the memory as if it had been on when the benchmark ran."""
    subprocess.run([KODERZ, "cortex", "backfill", "--data-dir", str(home)], check=True, stdout=subprocess.DEVNULL)


def _take(browser: Browser, url: str, look: Look, *, whole: bool) -> bytes:
    """The page from its top, once nothing moves."""
    page = _open(browser, url, look)
    page.wait_for_timeout(SETTLED)
    for _ in range(2):  # a page that became taller may draw what was out of sight, and be taller still
        tall = int(page.evaluate(f"document.querySelector('{MAIN}').scrollHeight"))  # it scrolls in a part of its own
        page.set_viewport_size({"width": look.width, "height": tall if whole else min(tall, look.tallest)})
        page.wait_for_timeout(SETTLED)
        page.wait_for_selector(IDLE, state="attached")
    picture = page.screenshot()
    page.close()
    return picture


def _open(browser: Browser, url: str, look: Look) -> Page:
    scheme: Literal["light", "dark"] = "dark" if look.dark else "light"
    page = browser.new_page(viewport={"width": look.width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(WITHIN * 1000)
    page.goto(url)
    page.wait_for_selector(IDLE, state="attached")
    page.locator(f"{MAIN} h1").wait_for()
    return page


def _keep(picture: bytes, path: Path) -> None:
    """As a file with a palette."""
    with Image.open(BytesIO(picture)) as taken:
        few = taken.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, ROUNDS, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
    print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
