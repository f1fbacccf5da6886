"""What a person waits for: Streamlit keeps parts of the run before in the page until the next run has ended."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from playwright.sync_api import Error, FloatRect, Locator, expect
from playwright.sync_api._generated import LocatorAssertions

IDLE = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
DRAWN = f'{IDLE}:not(:has([data-testid="stSkeleton"]))'
COPIES_SECONDS = 20.0  # on a busy machine, until the page has dropped what it showed before
CLICKS = 4
CLICK_SECONDS = 12.0  # until the page has answered a click on a row
ACTIONS = ("bounding_box", "click", "evaluate", "fill", "focus", "inner_text", "press", "scroll_into_view_if_needed")


def wait_out_copies() -> None:
    """Let actions and expectations wait while a part is in the page twice: Playwright fails at once."""
    for name in ACTIONS:
        setattr(Locator, name, _patient(getattr(Locator, name)))
    for name in vars(LocatorAssertions):
        if name.startswith(("to_", "not_to_")):
            setattr(LocatorAssertions, name, _patient(getattr(LocatorAssertions, name)))


def _patient(method: Callable[..., Any]) -> Callable[..., Any]:  # Any: whatever Playwright's methods take and give
    @wraps(method)
    def wait(*arguments: Any, **options: Any) -> Any:
        last = time.monotonic() + COPIES_SECONDS
        while True:
            try:
                return method(*arguments, **options)
            except (AssertionError, Error) as error:
                if "strict mode violation" not in str(error) or time.monotonic() > last:
                    raise
            time.sleep(0.05)

    return wait


def place_of(part: Locator) -> FloatRect:
    """Where a part of the page is when the page is drawn and nothing moves the part any more."""
    part.scroll_into_view_if_needed(timeout=60_000)
    part.page.locator(DRAWN).wait_for(timeout=60_000)
    part.scroll_into_view_if_needed()
    before = None
    while True:
        box = part.bounding_box()
        if box is not None and box == before:
            return box
        before = box
        part.page.wait_for_timeout(300)


def choose_row(table: Locator, number: int, address: str) -> None:
    """Tick a row, counted from 1, and again until the page's address matches: a table may lose a click while drawn."""
    expect(table).to_have_count(1)  # the table of the page before may still be there
    page, wanted = table.page, re.compile(address)
    for _ in range(CLICKS):
        box = place_of(table)
        if wanted.search(page.url):  # a busy machine answers late, and a second click takes the choice back
            return
        page.mouse.click(box["x"] + 15, box["y"] + 35 * number + 17)
        with suppress(AssertionError):
            expect(page).to_have_url(wanted, timeout=CLICK_SECONDS * 1000)
            return
    expect(page).to_have_url(wanted)
