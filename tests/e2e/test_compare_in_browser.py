"""What a person does with a comparison: choose a line, read two programs, send the address to somebody."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from playwright.sync_api import Page, expect
from sample import only_whole
from serving import Serve
from settled import choose_row, place_of

from koderz_core import Order, Wanted, open_workspace

MINUTE = 60_000  # milliseconds, for a busy machine
MARK = """([chart, key]) => {
    const mark = chart.data.find(trace => trace.customdata?.[0][1] === key), box = chart.getBoundingClientRect()
    const { xaxis, yaxis } = chart._fullLayout
    return [box.left + xaxis._offset + xaxis.d2p(mark.x[0]), box.top + yaxis._offset + yaxis.d2p(mark.y[0])]
}"""


def record(home: Path, *coders: str) -> None:
    """A benchmark of four problems, which each of the scripted coders tries once."""
    wanted = [Wanted("direct", {"coder": f"scripted/{coder}"}) for coder in coders]
    with open_workspace(home=home) as workspace:
        workspace.runs.run(workspace.plans.plan(Order(wanted, "0:4")))


@only_whole("long tests")
def test_a_click_on_a_problem_opens_both_programs_and_the_address_brings_them_back(
    server: Serve, page: Page, tmp_path: Path
) -> None:
    record(tmp_path / "home", "strong", "never")
    page.goto(f"{server().url}/statistics")
    problems = page.locator("[class*=st-key-problem]").get_by_test_id("stDataFrame")
    problems.wait_for(timeout=MINUTE)
    right = page.get_by_test_id("stCode").filter(has_text="def ").first
    first = right.inner_text()
    choose_row(problems, 2, r"problem=HumanEval%2F\d")
    expect(right).not_to_have_text(first, timeout=MINUTE)
    second = right.inner_text()
    page.reload()
    expect(right).to_have_text(second, timeout=MINUTE)


def test_a_click_on_a_pair_moves_it_into_the_headline_and_a_click_on_its_point_makes_it_the_baseline(
    server: Serve, page: Page, tmp_path: Path
) -> None:
    record(tmp_path / "home", "strong", "never", "weak")
    page.goto(f"{server().url}/statistics")
    pairs = page.locator("[class*=st-key-pair]").get_by_test_id("stDataFrame")
    choose_row(pairs, 2, "pair=")
    summary = page.get_by_role("link", name="Summary")
    expect(summary).to_have_attribute("href", re.compile("pair="), timeout=MINUTE)  # links are drawn after the address
    summary.click()
    headline = page.locator(".st-key-answer").get_by_test_id("stText")
    expect(headline.first).to_have_text(re.compile("^On 4 problems, "), timeout=MINUTE)
    pinned = headline.first.inner_text()
    page.reload()
    expect(headline.first).to_have_text(pinned, timeout=MINUTE)
    expect(headline).to_have_count(5)
    chosen = parse_qs(urlsplit(page.url).query)["pair"][0]
    click_point(page, chosen)
    expect(page).to_have_url(re.compile(f"baseline={re.escape(quote(chosen, safe=''))}"), timeout=MINUTE)


def click_point(page: Page, key: str) -> None:
    """Click the mark of a configuration in the chart of success."""
    chart = page.locator(".st-key-picture-wide .js-plotly-plot")
    place_of(chart)
    x, y = page.evaluate(MARK, [chart.element_handle(), key])
    page.mouse.move(x + 3, y)
    page.mouse.click(x, y)
