"""The search box and the form of labels, as a person uses them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import Server, serving_home
from settled import DRAWN

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("searched")
    (home / "journals").mkdir()
    shutil.copy(GOLDEN, home / "journals" / "bench_d53bbf8f03e3.jsonl")
    with serving_home(home) as running:
        yield running


def test_words_typed_on_a_page_lead_to_the_step_of_an_experiment(dashboard: Server, page: Page) -> None:
    page.goto(f"{dashboard.url}/problems?show=split")
    expect(page.get_by_role("application")).to_be_visible()
    left = page.url
    box = page.get_by_test_id("stSidebar").get_by_label("Search", exact=True)
    box.fill("return")
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?.*q=return"))
    expect(page.locator(".hit mark").first).to_have_text("return")
    page.go_back()
    expect(page).to_have_url(left)
    page.go_forward()
    page.get_by_role("link", name=re.compile("Program in exp_")).first.click()
    expect(page).to_have_url(re.compile(r"/experiment\?.*experiment=exp_[0-9a-f]{12}"))
    expect(page.get_by_role("heading", name="Experiments", exact=True)).to_be_visible()


def test_a_saved_note_leaves_its_form_open_on_a_telephone(dashboard: Server, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{dashboard.url}/experiment?experiment=exp_39082f84b679")
    page.locator(DRAWN).wait_for(timeout=60_000)  # a page that is still drawn forgets what was typed
    page.get_by_text("Labels and note", exact=True).click()
    note = page.get_by_label("Note", exact=True)
    note.fill("stops too early")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Note: stops too early")).to_be_visible()
    expect(note).to_be_visible()
    expect(note).to_have_value("stops too early")
