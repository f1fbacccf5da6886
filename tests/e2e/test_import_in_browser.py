"""A file of another tool, dropped on the page Export: a preview first, then a benchmark to compare."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect
from sample import only_whole
from serving import Serve

from koderz_core.config import load_settings
from koderz_core.datasets.humaneval import load_humaneval

MINUTE = 60_000


def test_a_dropped_file_is_shown_and_then_imported(server: Serve, page: Page, tmp_path: Path) -> None:
    problems = load_humaneval(load_settings()).problems[:2]
    rows = [{"task_id": problem.id, "solution": problem.canonical_solution, "model": "mine"} for problem in problems]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page.goto(f"{server().url}/export")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("Format samples, 2 results; koderz will grade the programs.")).to_be_visible()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("Imported: bench_")).to_be_visible(timeout=MINUTE)
    page.get_by_role("link", name="See results").click()
    expect(page.get_by_role("heading", name="Summary")).to_be_visible()
    expect(page.get_by_text("imported mine").first).to_be_visible()


@only_whole("long tests")
def test_a_broken_file_is_refused_with_its_lines(server: Serve, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"task_id": "HumanEval/0", "solution": "pass"}\n{"task_id": "HumanEval/1"}\n', encoding="utf-8")
    page.goto(f"{server().url}/export")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("answers.jsonl (samples) has 1 invalid line").first).to_be_visible()
    expect(page.get_by_text("line 2: has none of the fields completion, solution, answer").first).to_be_visible()
    expect(page.get_by_text(tempfile.gettempdir())).to_have_count(0)
    assert page.get_by_role("button", name="Import").count() == 0
