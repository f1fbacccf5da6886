"""The real dashboard in a process of its own, and a real browser that may speak to nothing else."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    WebSocket,
    expect,
    sync_playwright,
)
from serving import WITHIN, Serve, Server, forked, serving, started
from settled import IDLE, wait_out_copies

# The first draws the same pages with half the processor time: it has no windows that it could open.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Not even Chromium's own services are asked for anything; and it spends no time on what nobody sees.
QUIETLY = ("--disable-gpu", "--disable-extensions", "--mute-audio")
ALONE = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking")
wait_out_copies()
expect.set_options(timeout=WITHIN * 1000)  # only a failing test waits as long
OPEN = ExitStack()  # the browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serve]:
    """Starts dashboards on free ports, by default over the test's own data folder; each must end when told to."""
    with ExitStack() as ended:

        def serve(
            home: Path | None = None, environment: Mapping[str, str] | None = None, command: Sequence[str] = ()
        ) -> Server:
            log = tmp_path / f"server-{time.monotonic_ns()}.log"
            chosen = {**os.environ, "KODERZ_HOME": str(home or tmp_path / "home"), **(environment or {})}
            process = started(command, chosen, log) if command else forked(chosen, log)
            return ended.enter_context(serving(process, log))

        yield serve


@pytest.fixture(scope="module")
def chromium() -> Browser:
    return launched()


@cache
def launched() -> Browser:
    """One browser for all files of this folder that a worker runs."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"None of {', '.join(BROWSERS)} is installed.")
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    playwright = OPEN.enter_context(sync_playwright())
    browser = playwright.chromium.launch(executable_path=path, args=[*ALONE, *QUIETLY, *root])
    OPEN.callback(browser.close)
    return browser


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close the browser before tests of other folders: its event loop would be in the way of theirs."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        OPEN.close()
        launched.cache_clear()


@pytest.fixture(scope="module")
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    """One browser profile for all pages of a file: what a server sent once is not fetched and compiled again."""
    with chromium.new_context(viewport={"width": 1280, "height": 900}) as context:
        context.set_default_timeout(WITHIN * 1000)
        yield context


@pytest.fixture
def console_errors() -> list[str]:
    """What the browser's console has complained about so far."""
    return []


@pytest.fixture
def page(profile: BrowserContext, console_errors: list[str]) -> Iterator[Page]:
    """A page of the file's profile. The test fails if it asked anything but a server of this machine."""
    asked: list[str] = []

    def note(request: Request | WebSocket) -> None:
        asked.append(request.url)

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error":
            console_errors.append(message.text)

    profile.on("request", note)
    profile.on("console", listen)
    page = profile.new_page()
    page.on("websocket", note)
    yield page
    for opened in profile.pages:
        opened.close()
    profile.remove_listener("request", note)
    profile.remove_listener("console", listen)
    assert [url for url in asked if not _stays_here(url)] == []


def _stays_here(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("data", "blob") or parts.hostname == "127.0.0.1"


@pytest.fixture
def idle() -> Callable[[Page], None]:
    """Waits until the page's script has ended. Where a part repeats by itself, wait for its content instead."""

    def wait(page: Page) -> None:
        page.wait_for_selector(IDLE, state="attached")

    return wait
