"""Whether everybody can use every page: axe-core's rules of WCAG 2.1 A and AA in light and dark, a phone's width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, chdir
from importlib.resources import files
from pathlib import Path
from typing import Literal

import pytest
from menu import PAGES
from playwright.sync_api import Page, ViewportSize
from sample import thinned
from serving import serving_home
from settled import DRAWN

from koderz_core import open_workspace
from koderz_core.examples import EXAMPLE
from koderz_core.memory.cortex.database import Cortex
from koderz_core.memory.cortex.server import call
from koderz_core.memory.mirror import JournalReader, as_entry

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
RULES = {
    "light": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "dark": {"type": "rule", "values": ["color-contrast"]},  # which alone depends on the scheme
}
VIEWS = ("export?table=report", "experiment?experiment={experiment}", "compare?axis=usd")
PATHS = tuple("" if name == "overview" else name for name in PAGES)
FILLED = thinned((*PATHS, *VIEWS), "pages with results tried by axe-core", always=("", "compare", "live"))
SAME_ANYWAY = ("models", "network", "settings")  # what they show depends on the machine, not on results
EMPTY = thinned([path for path in PATHS if path not in SAME_ANYWAY], "empty pages tried by axe-core")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
TELEPHONE: ViewportSize = {"width": 390, "height": 844}
JUDGE = """async rules => {
    const judged = await axe.run(document, {runOnly: rules, resultTypes: ['violations']})
    return judged.violations.flatMap(rule => rule.nodes.map(node => {
        const it = document.querySelector(node.target[0])
        const place = it.parentElement.closest('[data-testid]')?.dataset.testid ?? ''
        return [`${rule.id}: ${it.dataset.testid ?? place} ${it.localName}`, node.failureSummary]
    }))
}"""
FITS = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
    .every(it => it.scrollWidth <= it.clientWidth)"""
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
# Streamlit greys what it is about to draw anew; at that moment nothing can be said of colours.
UNGREYED = "[data-stale] { opacity: 1 !important; transition: none !important }"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where there is a dashboard with the example and what is remembered of it, and an empty one."""
    folder = tmp_path_factory.mktemp("shown")
    remember_example(folder / "example")
    with chdir(folder), ExitStack() as ended:  # no settings of the checkout, nor its Streamlit's
        urls = {name: ended.enter_context(serving_home(folder / name)).url for name in ("example", "empty")}
        yield urls | {"home": str(folder / "example")}


@pytest.fixture(scope="module")
def experiment(shown: dict[str, str]) -> str:
    """One of the example's experiments, whose program is long enough to scroll."""
    with open_workspace(home=shown["home"]) as workspace:
        rows = workspace.results.progress(EXAMPLE).experiments
    return next(row.id for row in rows if row.problem == "HumanEval/156" and row.iterations > 1)


def remember_example(home: Path) -> None:
    """The example's journal in a data folder, and in its memory what a server would have remembered of it."""
    with open_workspace(home=home) as workspace:
        workspace.upkeep.open_example()
    told = [one for read in JournalReader(home / "journals" / f"{EXAMPLE}.jsonl").read() if (one := read.memory)]
    cortex = Cortex(home / "cortex.db")
    call(cortex, "import_memories", {"data": json.dumps([as_entry(memory) for memory in told])})
    cortex.close()


def visit(page: Page, url: str) -> None:
    """Open a page and wait until all of it is drawn."""
    page.goto(url)
    page.get_by_role("heading", level=1).wait_for()
    page.wait_for_selector(DRAWN, state="attached")


def prefer(page: Page, scheme: Literal["light", "dark"]) -> None:
    """As when a person's machine changes from day to night: the open page follows."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("it => getComputedStyle(document.querySelector('.stApp')).colorScheme === it", arg=scheme)


def faults(page: Page, scheme: Literal["light", "dark"]) -> dict[str, str]:
    """What axe-core finds: rule and place, and what it says about it."""
    page.add_style_tag(content=UNGREYED)
    page.evaluate(AXE)
    return dict(page.evaluate(JUDGE, RULES[scheme]))


@pytest.mark.parametrize("name", FILLED)
def test_a_page_full_of_results_is_for_everybody_and_fits_a_telephone(
    shown: dict[str, str], experiment: str, page: Page, name: str
) -> None:
    visit(page, f"{shown['example']}/{name.format(experiment=experiment)}")
    for scheme in SCHEMES:
        prefer(page, scheme)
        assert faults(page, scheme) == {}, scheme
    page.set_viewport_size(TELEPHONE)
    page.wait_for_function(FITS)  # charts and tables follow a moment later


@pytest.mark.parametrize("name", EMPTY)
def test_a_page_with_nothing_to_show_yet_is_for_everybody(shown: dict[str, str], page: Page, name: str) -> None:
    visit(page, f"{shown['empty']}/{name}")
    for scheme in SCHEMES:
        prefer(page, scheme)
        assert faults(page, scheme) == {}, scheme


def test_a_dark_popover_shows_chosen_configurations_in_readable_text(shown: dict[str, str], page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, f"{shown['example']}/compare")
    page.get_by_test_id("stPopoverButton").first.click()
    tag = page.get_by_test_id("stPopoverBody").locator("[data-tag]").first
    tag.wait_for()
    assert tag.evaluate(CONTRAST) >= 4.5
