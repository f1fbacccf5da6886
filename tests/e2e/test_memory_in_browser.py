"""What a person does on the Memory page: ask the server, search, filter, open, follow where it comes from."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from sample import only_whole
from serving import Server, serving_home
from settled import choose_row

from koderz_core.memory.cortex.database import Cortex
from koderz_core.memory.cortex.server import call
from koderz_core.memory.mirror import JournalReader, as_entry

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"
MINUTE = 60_000  # milliseconds, for a busy machine


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests of this file, over a journal and all that is remembered of it."""
    home = tmp_path_factory.mktemp("remembered")
    (home / "journals").mkdir()
    shutil.copy(GOLDEN, home / "journals" / "bench_d53bbf8f03e3.jsonl")
    told = [one for read in JournalReader(GOLDEN, scripted=True).read() if (one := read.memory)]
    cortex = Cortex(home / "cortex.db")
    call(cortex, "import_memories", {"data": json.dumps([as_entry(memory) for memory in told])})
    cortex.close()
    with serving_home(home) as running:
        yield running


def visit(page: Page, server: Server, query: str = "") -> None:
    page.goto(f"{server.url}/memory{query}")
    expect(page.get_by_role("heading", name="Memory", exact=True)).to_be_visible(timeout=MINUTE)


def opened(page: Page) -> Locator:
    """The heading of the memory that is shown in full."""
    return page.get_by_role("heading", name=re.compile("^Memory [0-9]+$"))


def found(page: Page, many: int) -> None:
    expect(page.get_by_text(f"{many} found.", exact=True)).to_be_visible(timeout=MINUTE)


def test_the_server_is_asked_and_a_memory_is_searched_for_opened_and_followed_to_its_experiment(
    dashboard: Server, page: Page
) -> None:
    visit(page, dashboard)
    found(page, 21)
    expect(page.get_by_test_id("stMetric").filter(has_text="memories")).to_contain_text("21", timeout=MINUTE)
    page.get_by_role("button", name="Check the memory server").click()
    expect(page.get_by_text("Answers: koderz-cortex")).to_be_visible(timeout=MINUTE)
    expect(page.get_by_text("Memories on the server, in all projects: 21")).to_be_visible(timeout=MINUTE)
    page.get_by_label("Words").fill("Feedback")
    page.get_by_label("Words").press("Enter")
    found(page, 6)
    expect(page).to_have_url(re.compile("words=Feedback"))
    first = opened(page).inner_text()
    choose_row(page.locator("[class*=st-key-memory]").get_by_test_id("stDataFrame"), 2, "memory=[0-9]+")
    expect(opened(page)).not_to_have_text(first, timeout=MINUTE)
    expect(page.get_by_test_id("stCode").first).to_contain_text("def ", timeout=MINUTE)
    page.get_by_role("link", name="Experiment of this memory").click()
    expect(page.get_by_role("heading", name="Experiments", exact=True)).to_be_visible(timeout=MINUTE)
    expect(page).to_have_url(re.compile("/experiment[?].*experiment=exp_[0-9a-f]{12}"))


@only_whole("long tests")
def test_filters_narrow_what_is_found_and_the_address_keeps_them(dashboard: Server, page: Page) -> None:
    visit(page, dashboard, "?kind=checkpoint")
    found(page, 2)
    page.get_by_label("Kind").click()
    page.get_by_role("option", name="spec").click()
    found(page, 4)
    expect(page).to_have_url(re.compile("kind=spec"), timeout=MINUTE)
    page.reload()
    found(page, 4)


@only_whole("long tests")
def test_related_memories_lead_from_one_to_the_other(dashboard: Server, page: Page) -> None:
    visit(page, dashboard, "?kind=spec")
    one = opened(page).inner_text()
    links = page.get_by_role("link", name=re.compile("^Memory [0-9]+$"))
    expect(links.first).to_be_visible(timeout=MINUTE)
    other = links.first.inner_text().strip()
    links.first.click()
    expect(opened(page)).to_have_text(other, timeout=MINUTE)
    expect(page.get_by_role("link", name=one, exact=True)).to_be_visible(timeout=MINUTE)
