"""What a person does to see what each part of supervised is good for: one click, start, compare."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect
from sample import only_whole
from serving import NO_WEIGHTS, Serve

MINUTE = 60_000  # milliseconds, for a busy machine
WHOLE = "supervised SCRIPTED weak"


@only_whole("long tests")
def test_a_grid_is_added_by_one_click_runs_to_its_end_and_is_held_against_its_whole(
    server: Serve, page: Page, tmp_path: Path
) -> None:
    dashboard = server(tmp_path / "home", NO_WEIGHTS)
    page.goto(f"{dashboard.url}/launch?preset=quick+look")
    page.get_by_text("Ablations", exact=True).click()
    grid = page.get_by_text("koderz will run this configuration and 8 ablations")
    expect(grid).to_be_visible(timeout=MINUTE)
    expect(page.get_by_test_id("stMetric").filter(has_text="experiments")).to_contain_text("30")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("30 of 30 experiments")).to_be_visible(timeout=MINUTE)
    page.goto(f"{dashboard.url}/compare")
    page.get_by_test_id("stPopover").get_by_role("button").click(timeout=MINUTE)
    baseline = page.get_by_test_id("stSelectbox").filter(has_text="Baseline")
    expect(baseline.locator("input")).to_have_value(f"B · {WHOLE}", timeout=MINUTE)
    expect(page.get_by_text(f"{WHOLE} (spec=False)").first).to_be_attached()
