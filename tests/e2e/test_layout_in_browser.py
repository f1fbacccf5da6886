"""What a page shows stays where it is while the rest is loaded, and the picture does not wait for Plotly."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from sample import thinned
from serving import WITHIN, Server, serving_home

from koderz_core import open_workspace

MOST = 0.1  # of cumulative layout shift: https://web.dev/articles/cls
SETTLED = 1500  # milliseconds in which the last parts are drawn
SHIFTS = """
window.shift = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => window.shift += entry.value))
    .observe({ type: "layout-shift", buffered: true });
"""
READY = {
    "overview": ".js-plotly-plot .main-svg",
    "launch": ".st-key-start-bar button",
    "compare": ".js-plotly-plot .main-svg",
    "live": ".st-key-cells canvas",
    "problems": ".st-key-matrix canvas",
    "experiment": '[data-testid="stDataFrame"] canvas',
    "statistics": '[data-testid="stDataFrame"] canvas',
    "export": '[data-testid="stDataFrame"] canvas',
}
"""Pages, and the part of each that the browser draws last."""


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("layout") / "home"
    with open_workspace(home=home) as workspace:
        workspace.upkeep.open_example()
    with serving_home(home) as served:
        yield served


@pytest.fixture
def fresh(chromium: Browser) -> Iterator[Page]:
    """A page of a profile of its own, which has none of the dashboard's files."""
    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        context.set_default_timeout(WITHIN * 1000)
        yield context.new_page()


@pytest.mark.parametrize("name", thinned(list(READY), "pages whose parts must not move", always=["compare"]))
def test_nothing_visible_moves_while_a_page_is_loaded(
    example: Server, fresh: Page, idle: Callable[[Page], None], name: str
) -> None:
    fresh.add_init_script(SHIFTS)
    fresh.goto(f"{example.url}/{name}")
    fresh.locator(READY[name]).first.wait_for(state="attached")
    idle(fresh)
    fresh.wait_for_timeout(SETTLED)
    assert fresh.evaluate("window.shift") <= MOST
    expect(fresh.locator(".st-key-picture-wide img:visible")).to_have_count(0)  # Plotly's chart is in its place


def test_the_picture_is_visible_before_plotly_is_loaded(example: Server, fresh: Page) -> None:
    fresh.route("**/PlotlyChart*", lambda _: None)  # the request is never answered
    fresh.goto(f"{example.url}/compare")
    still = fresh.locator(".st-key-picture-wide img")
    expect(still).to_be_visible()
    assert still.evaluate("image => image.decode().then(() => image.naturalHeight)") > 300
