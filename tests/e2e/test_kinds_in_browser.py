"""A person runs problems of other kinds than functions: from New run over Live to the transcript on Problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from sample import only_whole
from serving import NO_WEIGHTS, Serve
from test_accessibility_in_browser import FITS, TELEPHONE, faults
from test_dashboard_in_browser import MINUTE, figure
from test_first_walk_in_browser import show

from koderz_core import Order, Wanted, open_workspace

TEXT = "Return **twice** the number, as `double(2)` does. <b>Only</b> integers."
OWN = {
    "task_id": "mine/double",
    "kind": "module",
    "prompt": f"# Instructions\n\n{TEXT}\n",
    "file": "double.py",
    "given": "def double(number):\n    pass\n",
    "test": "import unittest\nfrom double import double\n\n\nclass DoubleTest(unittest.TestCase):\n"
    "    def test_two(self):\n        self.assertEqual(double(2), 4)\n",
    "canonical_solution": "def double(number):\n    return 2 * number\n",
}


def kept(home: Path, row: dict[str, str]) -> str:
    """The name of a dataset of one own problem."""
    file = home.parent / "mine.jsonl"
    file.write_text(json.dumps(row) + "\n")
    with open_workspace(home=home) as workspace:
        return workspace.datasets.load(str(file)).origin.name


def says(page: Page, words: str) -> None:
    """Wait until the command that the page shows contains these words: what was entered before is kept then."""
    expect(page.get_by_test_id("stCode").filter(has_text=words)).to_be_visible(timeout=MINUTE)


def choose(page: Page, label: str, value: str) -> None:
    """Type into a select box."""
    box = page.get_by_role("combobox", name=label).first
    box.fill(value)
    box.press("Enter")


def start(page: Page, experiments: int) -> None:
    page.get_by_role("button", name="Start").click()
    expect(figure(page, "state")).to_have_text("finished", timeout=MINUTE)
    expect(page.get_by_text(f"{experiments} of {experiments} experiments")).to_be_visible()


def open_problem(page: Page, idle: Callable[[Page], None]) -> None:
    show(page, "Problems")
    idle(page)
    page.get_by_test_id("stExpander").filter(has_text="Problem").last.click()


def test_a_module_is_run_by_aiders_protocol_and_read(
    server: Serve, page: Page, idle: Callable[[Page], None], tmp_path: Path
) -> None:
    name = kept(tmp_path / "home", OWN)
    page.goto(f"{server(tmp_path / 'home', NO_WEIGHTS).url}/launch")
    idle(page)
    page.get_by_role("radio", name="Aider's protocol").click()
    says(page, "--preset aider")
    idle(page)
    page.get_by_role("radio", name="All", exact=True).click()
    says(page, "--problems all")
    choose(page, "Dataset", name)
    says(page, f"--dataset {name}")
    start(page, 2)
    open_problem(page, idle)
    expect(page.get_by_text("kind: module (a whole file with functions or classes) · file: double.py")).to_be_visible()
    expect(page.get_by_text(TEXT)).to_be_visible()
    expect(page.get_by_test_id("stCode").first).to_have_text("def double(number):\n    pass")
    page.get_by_role("radio", name="Diff", exact=True).click()
    expect(page.get_by_text("Changes from the given file to this program")).to_be_visible()


@only_whole("long tests")
def test_the_failed_cases_of_a_program_are_read(
    server: Serve, page: Page, idle: Callable[[Page], None], tmp_path: Path
) -> None:
    with open_workspace(home=tmp_path / "home") as workspace:
        wanted = Wanted("direct", {"coder": "scripted/never"})
        plan = workspace.plans.plan(Order([wanted], "0:1"), "humaneval-stdin")
        workspace.runs.run(plan)
    page.goto(f"{server(tmp_path / 'home', NO_WEIGHTS).url}/problems?benchmarks={plan.id}")
    idle(page)
    page.get_by_test_id("stExpander").filter(has_text="Problem").last.click()
    expect(page.get_by_text("Read this function's arguments from standard input")).to_be_visible()
    page.get_by_role("radio", name="Tests", exact=True).click()
    expect(page.get_by_text("Test 1: input")).to_be_visible()
    expect(page.get_by_test_id("stCode").filter(has_text="true↵").first).to_be_visible()
    assert faults(page, "light") == {}
    page.set_viewport_size(TELEPHONE)
    page.wait_for_function(FITS)
