"""What a person does to launch a recorded benchmark again, changed, where that may take long: look, agree, watch."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect
from sample import only_whole
from serving import NO_WEIGHTS, Serve

from koderz_core import Order, Wanted, open_workspace

MINUTE = 60_000  # milliseconds, for a busy machine
SETTINGS = {**NO_WEIGHTS, "KODERZ_CONFIRM_HOURS": "0"}  # whatever it takes is long


def test_a_clone_is_changed_and_begins_once_a_person_has_agreed(server: Serve, page: Page, tmp_path: Path) -> None:
    with open_workspace(home=tmp_path / "home") as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:3"))
        workspace.runs.run(plan)
    page.goto(f"{server(tmp_path / 'home', SETTINGS).url}/launch?clone={plan.id}")
    expect(page.get_by_text("Already recorded: 3 of 3 experiments")).to_be_visible(timeout=MINUTE)
    seed = page.get_by_label("Seed", exact=True)
    seed.fill("1")
    seed.press("Enter")
    expect(page.get_by_text("Changed: seed.")).to_be_visible(timeout=MINUTE)
    start, dialog = page.locator(".st-key-start button"), page.get_by_role("dialog")
    start.click()
    dialog.get_by_role("button", name="Not now").click()
    dialog.wait_for(state="detached")
    start.click()
    expect(dialog.get_by_text("The benchmark runs on this machine")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    main = page.get_by_test_id("stMain")
    assert main.evaluate("it => it.scrollWidth <= it.clientWidth")
    dialog.get_by_role("button", name="Start it").click()
    expect(page.get_by_text("3 of 3 experiments")).to_be_visible(timeout=MINUTE)
    assert plan.id not in page.url


@only_whole("long tests")
def test_a_reload_keeps_what_was_entered(server: Serve, page: Page, tmp_path: Path) -> None:
    page.goto(f"{server(tmp_path / 'home', NO_WEIGHTS).url}/launch")
    repeats = page.get_by_role("spinbutton", name="Repeats", exact=True)
    repeats.fill("2")
    repeats.press("Enter")
    name = page.get_by_role("textbox", name="Name (optional)")
    name.fill("mine")
    name.press("Enter")
    command = page.get_by_text("koderz benchmark --preset quick-look --repeats 2 --name mine")
    expect(command).to_be_visible(timeout=MINUTE)
    expect(page.get_by_text("Changed: repeats, name.")).to_be_visible()
    page.reload()
    expect(command).to_be_visible(timeout=MINUTE)
    expect(repeats).to_have_value("2")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("button", name="Start")).to_be_in_viewport()
