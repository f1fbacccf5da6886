"""The tags of chosen values: removed by a finger on a narrow screen, and readable in a dark popover."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
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


@pytest.fixture
def phone(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as context:
        context.set_default_timeout(WITHIN * 1000)
        yield context.new_page()


def test_the_form_stays_open_after_the_first_label_and_a_tap_near_its_cross_removes_it(
    url: str, phone: Page, idle: Callable[[Page], None]
) -> None:
    phone.goto(f"{url}/problems")
    phone.get_by_role("link", name="Open the experiment").tap()
    expect(phone.get_by_text("Labels and note", exact=True)).to_be_visible()
    idle(phone)  # a form that is drawn again loses what was typed into it
    phone.get_by_text("Labels and note", exact=True).tap()
    field = phone.get_by_test_id("stForm").get_by_test_id("stMultiSelect")
    field.locator("input").fill("wrong test")
    field.locator("input").press("Enter")
    phone.get_by_test_id("stBaseButton-primaryFormSubmit").tap()
    expect(phone.get_by_text("Labels: wrong test")).to_be_visible()
    expect(field).to_have_count(1)  # the form from before the click is gone
    cross = field.get_by_role("button", name=re.compile("Remove"), include_hidden=True)
    cross.scroll_into_view_if_needed()
    box = cross.bounding_box()
    assert box
    phone.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 - 8)
    expect(field.locator("[data-tag]")).to_have_count(0)


def test_a_dark_popover_shows_chosen_configurations_in_readable_text(url: str, chromium: Browser) -> None:
    with chromium.new_context(color_scheme="dark") as context:
        page = context.new_page()
        page.goto(f"{url}/compare")
        page.get_by_test_id("stPopoverButton").first.click(timeout=WITHIN * 1000)
        tag = page.get_by_test_id("stPopoverBody").locator("[data-tag]").first
        tag.wait_for(timeout=WITHIN * 1000)
        assert tag.evaluate(CONTRAST) >= 4.5
