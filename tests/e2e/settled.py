"""What a person waits for: Streamlit keeps parts of the run before in the page until the next has ended."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

IDLE = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
DRAWN = f'{IDLE}:not(:has([data-testid="stSkeleton"]))'


def shown(part: Locator, milliseconds: float | None = None) -> None:
    """Wait until the page holds this part once, without the copy of the run before, and shows it."""
    expect(part).to_have_count(1, timeout=milliseconds)
    expect(part).to_be_visible(timeout=milliseconds)
