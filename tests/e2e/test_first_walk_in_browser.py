"""The first half hour of a person: start, launch, watch, open, compare, take away; by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import pytest
from playwright.sync_api import Download, Page, expect
from sample import only_whole
from serving import NO_WEIGHTS, Serve, Server
from test_dashboard_in_browser import MINUTE, figure

MOST_STOPS = 80  # presses of Tab until something must have been reached
FOCUSED = (
    "(function at(root) { const it = root.activeElement; return it.shadowRoot ? at(it.shadowRoot) : it })(document)"
)
EXPERIMENTS = 6  # of the quick look: 3 problems, 2 configurations


@pytest.fixture
def dashboard(server: Serve, tmp_path: Path) -> Server:
    """As at the first start: nothing has been run."""
    return server(tmp_path / "home", NO_WEIGHTS)


def show(page: Page, name: str) -> None:
    """Go to a page by the menu or the tabs."""
    page.get_by_test_id("stPageLink-NavLink").filter(has_text=re.compile(f"{name}$")).first.click()
    arrived(page, name)


def arrived(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible(timeout=MINUTE)


def walk_to(page: Page, said: str) -> None:
    """Press Tab until what says ``said`` (a link or button) or has that role has the focus, and shows it."""
    passed = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        passed.append(page.evaluate(f"(it => it.matches('a, button') ? it.innerText : it.role)({FOCUSED})"))
        if said in (passed[-1] or ""):
            assert page.evaluate(f"{FOCUSED}.matches(':focus-visible')")
            return
    raise AssertionError(f"Tab does not come to {said!r}, only to {passed}")


def read(download: Download, path: Path) -> pd.DataFrame:
    download.save_as(path)
    return pd.read_csv(path)


def test_a_first_walk_from_an_empty_folder_to_files_to_take_away(
    dashboard: Server, page: Page, idle: Callable[[Page], None], tmp_path: Path
) -> None:
    page.goto(dashboard.url)
    expect(page.get_by_text("No benchmark has been run yet")).to_be_visible(timeout=MINUTE)
    page.get_by_role("button", name="Run the quick look").click()
    arrived(page, "New run")
    idle(page)
    page.get_by_role("button", name="Start").click()
    expect(figure(page, "state")).to_have_text("finished", timeout=MINUTE)
    expect(page.get_by_text("SCRIPTED: the answers come from a script").first).to_be_visible()
    expect(page.get_by_text(f"{EXPERIMENTS} of {EXPERIMENTS} experiments")).to_be_visible()
    page.locator(".matrix .block canvas").first.click(position={"x": 6, "y": 6})
    expect(page.get_by_test_id("stCode").first).to_contain_text("def ", timeout=MINUTE)
    show(page, "Summary")
    with page.expect_download() as report:
        page.get_by_role("link", name="Report (HTML)").click(timeout=MINUTE)
    report.value.save_as(tmp_path / "report.html")
    assert "<title>koderz: comparison of configurations</title>" in (tmp_path / "report.html").read_text(
        encoding="utf-8"
    )
    show(page, "Export")
    idle(page)
    with page.expect_download() as table:
        page.get_by_role("link", name="Download").click()
    exported = read(table.value, tmp_path / "table.csv")
    assert len(exported) == EXPERIMENTS
    assert set(exported["problem"]) == {f"HumanEval/{number}" for number in range(3)}


@only_whole("long tests")
def test_the_same_walk_needs_no_mouse(
    dashboard: Server, page: Page, idle: Callable[[Page], None], tmp_path: Path
) -> None:
    page.goto(dashboard.url)
    expect(page.get_by_text("No benchmark has been run yet")).to_be_visible(timeout=MINUTE)
    walk_to(page, "Run the quick look")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Start")).to_be_enabled(timeout=MINUTE)
    idle(page)  # a button that was just drawn does not listen to keys yet
    page.keyboard.press("Control+Enter")
    expect(figure(page, "state")).to_have_text("finished", timeout=MINUTE)
    walk_to(page, "application")  # the matrix
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Transcript")).to_be_visible(timeout=MINUTE)
    walk_to(page, "Summary")
    page.keyboard.press("Enter")
    arrived(page, "Summary")
    walk_to(page, "Export")
    page.keyboard.press("Enter")
    arrived(page, "Export")
    expect(page.get_by_role("link", name="Download")).to_be_visible(timeout=MINUTE)
    walk_to(page, "Download")
    with page.expect_download() as table:
        page.keyboard.press("Enter")
    assert len(read(table.value, tmp_path / "table.csv")) == EXPERIMENTS
