"""What a person does in the browser: launch, watch, leave, come back, stop, open, compare, export."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from sample import only_whole, thinned
from serving import KODERZ, NO_WEIGHTS, PLAINLY, WITHIN, Serve, Server, forked, serving, serving_home
from settled import place_of

from koderz_core import Order, Wanted, open_workspace
from koderz_core.workspace.drafts import Draft, Row

MINUTE = 60_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("watched") / "home"


@pytest.fixture(scope="module")
def dashboard(home: Path) -> Iterator[Server]:
    """One for all tests that look at a benchmark of their own."""
    with serving_home(home) as server:
        yield server


@pytest.fixture
def empty(server: Serve, tmp_path: Path) -> Server:
    """A dashboard where nothing has been run."""
    return server(tmp_path / "home", NO_WEIGHTS)


@pytest.fixture(scope="module")
def recorded(home: Path) -> Path:
    """The journal of a finished benchmark in the same data folder."""
    wanted = Wanted("supervised", {"coder": "scripted/weak"}, {"max_iterations": 3})
    with open_workspace(home=home) as workspace:
        plan = workspace.plans.plan(Order([wanted], "0:3"))
        workspace.runs.run(plan)
    return home / "journals" / f"{plan.id}.jsonl"


def figure(page: Page, name: str) -> Locator:
    """The value of a figure of the page."""
    metric = page.get_by_test_id("stMetric").filter(has_text=name).get_by_test_id("stMetricValue")
    return metric.or_(page.locator(".board dl > div").filter(has_text=name).locator("dd"))


def launch(page: Page, url: str, home: Path) -> str:
    """Start a draft of three problems, supervised only, that run for long; the address of the page that watches."""
    often = {"max_iterations": 40, "checkpoint_interval": 2}  # more than a minute
    row = Row(Wanted("supervised", {"coder": "scripted/stubborn"}, often))
    with open_workspace(home=home) as workspace:
        name = workspace.drafts.keep(Draft((row,), "0:3", baselines=False))
    page.goto(f"{url}/launch?draft={name}")
    expect(page.get_by_text("max_iterations=40")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Live", exact=True)).to_be_visible(timeout=MINUTE)
    expect(figure(page, "state")).to_be_visible()
    return page.url


def watch_it_grow(page: Page) -> tuple[int, int]:
    """The numbers of iterations of two paints, one after the other."""
    first = figure(page, "iterations").inner_text()
    expect(figure(page, "iterations")).not_to_have_text(first, timeout=MINUTE)
    return int(first), int(figure(page, "iterations").inner_text())


def koderz(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A command in a terminal beside the dashboard."""
    command = [KODERZ, *arguments, "--data-dir", str(home)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_two_browsers_see_a_benchmark_grow_that_outlives_its_tab_and_is_stopped(
    dashboard: Server, home: Path, page: Page, chromium: Browser
) -> None:
    address = launch(page, dashboard.url, home)
    expect(page.get_by_text("0 of 3 experiments")).to_be_visible()
    with chromium.new_context() as elsewhere:  # nothing of a session is shared
        other = elsewhere.new_page()
        other.goto(address)
        for tab in (page, other):
            expect(figure(tab, "state")).to_have_text("running")
            first, second = watch_it_grow(tab)
            assert first < second < 120
            expect(tab.locator(".st-key-live-text")).to_contain_text("SCRIPTED: this may")
            expect(tab.get_by_text("0 of 3 experiments")).to_be_visible()
        again = page.context.new_page()
        page.close()
        again.goto(address)
        expect(figure(again, "state")).to_have_text("running")
        other.locator("[class*=st-key-stop-live]").get_by_role("button", name="Stop").click()
        for tab in (other, again):
            expect(figure(tab, "state")).to_have_text("stopped")
            expect(tab.get_by_text("without a result")).to_be_visible()


def test_a_cell_opens_its_transcript_beside_it_and_from_there_its_page_with_every_view(
    dashboard: Server, recorded: Path, page: Page, idle: Callable[[Page], None]
) -> None:
    page.goto(f"{dashboard.url}/live?benchmark={recorded.stem}")
    expect(figure(page, "state")).to_have_text("finished")
    page.locator(".matrix .block canvas").first.click(position={"x": 6, "y": 6})
    expect(page).to_have_url(re.compile("experiment=exp_[0-9a-f]+$"))
    expect(page.get_by_role("heading", name="Transcript")).to_be_in_viewport()
    expect(page.get_by_test_id("stCode").first).to_contain_text("def ")
    page.get_by_role("link", name="Open").click()
    experiment = page
    expect(experiment.get_by_role("heading", name="Experiments", exact=True)).to_be_visible()
    idle(experiment)
    for view in ("Prompt", "Answer", "Tests", "Calls", "Program"):
        experiment.get_by_role("radio", name=view, exact=True).first.click()
        expect(experiment).to_have_url(re.compile(f"view={view}" if view != "Program" else "^((?!view=).)*$"))
        idle(experiment)  # what is clicked while the page is being drawn may be replaced
    expect(experiment.get_by_test_id("stCode").first).to_contain_text("def ")
    opened_at = re.compile(str(parse_qs(urlsplit(experiment.url).query)["experiment"][0]))
    experiment.keyboard.press("Alt+PageDown")
    expect(experiment).not_to_have_url(opened_at)
    expect(experiment.get_by_role("button", name="Previous")).to_be_enabled(timeout=MINUTE)  # the first has none before
    experiment.keyboard.press("Alt+PageUp")
    expect(experiment).to_have_url(opened_at)
    expect(experiment.locator(".st-key-step-up button")).to_be_enabled(timeout=MINUTE)
    experiment.keyboard.press("Alt+ArrowUp")
    expect(experiment).to_have_url(re.compile("step=[0-9]+"))


@only_whole("long tests")
def test_a_benchmark_of_the_command_line_appears_by_itself_and_both_finish(
    empty: Server, page: Page, tmp_path: Path
) -> None:
    page.goto(f"{empty.url}/live")
    expect(page.get_by_text("No benchmark has been run yet")).to_be_visible()
    slow = ("--strategy", "supervised", "--coder", "scripted/stubborn", "--max-iterations", "20")
    with koderz(tmp_path / "home", "run", "--problem-id", "HumanEval/0", *slow) as terminal:
        expect(figure(page, "state")).to_have_text("running", timeout=MINUTE)
        first, second = watch_it_grow(page)
        assert first < second < 20
        controls = page.locator(".st-key-controls")
        controls.get_by_role("button", name="Pause").click()
        expect(figure(page, "state")).to_have_text("paused", timeout=MINUTE)
        controls.get_by_role("button", name="Resume").click()
        expect(figure(page, "state")).to_have_text("running", timeout=MINUTE)
        assert terminal.poll() is None
        assert terminal.wait(WITHIN) == 4  # unsolved
    expect(figure(page, "state")).to_have_text("finished")
    expect(figure(page, "iterations")).to_have_text("20")


COUNTED = """() => {
    const all = selector => [...document.querySelectorAll('[data-testid="stMain"] *')]
        .flatMap(element => element.shadowRoot ? [...element.shadowRoot.querySelectorAll(selector)] : []);
    const bar = all(".board > .text"), narrow = all(".matrix .key i");
    const totals = narrow.length ? narrow : all(".matrix .block:nth-child(2) i");
    if (!window.koderzNews || !bar.length || !totals.length) return null;
    const cells = totals.reduce((sum, total) => sum + (+total.textContent.split("/")[1] || 0), 0);
    return [bar[0].textContent, cells + " of 30"];
}"""


@only_whole("long tests")
def test_bar_and_cells_count_the_same_in_every_frame_while_a_benchmark_runs(
    empty: Server, page: Page, tmp_path: Path
) -> None:
    page.goto(f"{empty.url}/live")
    expect(page.get_by_text("No benchmark has been run yet")).to_be_visible()
    slow = ("--problems", "0:30", "--strategy", "supervised", "--coder", "scripted/slow", "--no-baselines")
    with koderz(tmp_path / "home", "benchmark", *slow) as terminal:
        expect(page.get_by_text("of 30 experiments").first).to_be_visible(timeout=MINUTE)
        seen = set[str]()
        while terminal.poll() is None and len(seen) < 8:
            if (counted := page.evaluate(COUNTED)) and "of 30" in counted[0]:
                (number,) = {match[0] for words in counted if (match := re.search(r"\d+ of 30", words))}
                seen.add(number)
        terminal.terminate()
    assert len(seen) > 3  # it grew meanwhile


SAID_BY_STYLE = """([selector, part]) => {
    const element = document.querySelector(selector)
    return element && getComputedStyle(element, part).content.includes("koderz is not reachable")
}"""


ENDING = (signal.SIGHUP, signal.SIGTERM)  # the first: its terminal was closed


@pytest.mark.parametrize("number", thinned(ENDING, "signals that end a dashboard"))
def test_an_open_page_recovers_from_a_killed_server_and_a_dashboard_that_is_ended_stops_its_benchmark(
    server: Serve, page: Page, tmp_path: Path, number: signal.Signals
) -> None:
    home = tmp_path / "home"
    first = server(home, NO_WEIGHTS)
    launch(page, first.url, home)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(WITHIN)
    page.wait_for_function(SAID_BY_STYLE, arg=[".stApp", "::before"], timeout=MINUTE)
    page.wait_for_function(SAID_BY_STYLE, arg=['[data-testid="stDialog"] h2 + div > div', "::after"], timeout=MINUTE)
    environment, log = {**os.environ, **NO_WEIGHTS, "KODERZ_HOME": str(home)}, tmp_path / "second.log"
    again = forked(environment, log, *PLAINLY[:-1], first.url.rpartition(":")[2])  # at the same port
    with serving(again, log) as second:
        expect(figure(page, "state")).to_have_text("interrupted", timeout=MINUTE)
        expect(page.get_by_text("Finished calls and tests are kept")).to_be_visible()
        page.locator(".st-key-ways-on").get_by_role("button", name="Resume").click()
        expect(figure(page, "state")).to_have_text("running", timeout=MINUTE)
        second.process.send_signal(number)
        assert second.process.wait(WITHIN) == -signal.SIGTERM
        (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
        assert '"reason":"stopped"' in journal.read_text().splitlines()[-1]


@only_whole("long tests")
def test_a_cell_of_the_matrix_shows_its_transcript_and_the_address_keeps_it(
    dashboard: Server, recorded: Path, page: Page
) -> None:
    page.goto(f"{dashboard.url}/problems?benchmarks={recorded.stem}")
    matrix = page.get_by_role("application")
    expect(matrix).to_have_accessible_name(re.compile(r"3 problems × \d configurations?, hardest problems first"))
    matrix.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("problem=HumanEval"), timeout=MINUTE)
    chosen = page.locator(".st-key-transcript").get_by_text("HumanEval/")
    problem = chosen.inner_text()
    page.reload()
    expect(chosen).to_have_text(problem, timeout=MINUTE)
    place = place_of(page.locator(".matrix .block canvas"))
    page.mouse.click(place["x"] + 5, place["y"] + 5)
    expect(chosen).not_to_have_text(problem, timeout=MINUTE)
