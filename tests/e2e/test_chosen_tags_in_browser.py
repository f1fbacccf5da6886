"""The tags of chosen values are readable in a dark popover."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from serving import WITHIN, Serve

JOURNAL = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"
CONTRAST = """tag => {
    const light = colour => {
        const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(Number), most = colour.startsWith("rgb") ? 255 : 1
        const [red, green, blue] = parts.map(part => part / most)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    }
    const [text, ground] = [getComputedStyle(tag.querySelector("span")).color, getComputedStyle(tag).backgroundColor]
    return Math.max(light(text), light(ground)) / Math.min(light(text), light(ground))
}"""


@pytest.fixture
def url(server: Serve, tmp_path: Path) -> str:
    """A dashboard over a finished benchmark."""
    (tmp_path / "home" / "journals").mkdir(parents=True)
    shutil.copy(JOURNAL, tmp_path / "home" / "journals" / "bench_d53bbf8f03e3.jsonl")
    return server().url


def test_a_dark_popover_shows_chosen_configurations_in_readable_text(url: str, chromium: Browser) -> None:
    with chromium.new_context(color_scheme="dark") as context:
        page = context.new_page()
        page.goto(f"{url}/compare")
        page.get_by_test_id("stPopoverButton").first.click(timeout=WITHIN * 1000)
        tag = page.get_by_test_id("stPopoverBody").locator("[data-tag]").first
        tag.wait_for(timeout=WITHIN * 1000)
        assert tag.evaluate(CONTRAST) >= 4.5
