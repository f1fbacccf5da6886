"""What a person waits for: Streamlit keeps parts of the run before in the page until the next run has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from playwright.sync_api import Error, FloatRect, Locator
from playwright.sync_api._generated import LocatorAssertions

IDLE = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
DRAWN = f'{IDLE}:not(:has([data-testid="stSkeleton"]))'
COPIES_SECONDS = 20.0  # on a busy machine, until the page has dropped what it showed before
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
