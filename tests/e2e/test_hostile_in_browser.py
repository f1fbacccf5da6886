"""What a model says is shown, never obeyed: no page changes, no request leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import serving_chat, streams
from playwright.sync_api import Page, expect
from serving import Serve

from koderz_core import Order, Wanted, open_workspace
from koderz_core.records import Plan

ELSEWHERE = "https://elsewhere.example/seen.png"
HOSTILE = (
    f"![seen]({ELSEWHERE}) <img src='{ELSEWHERE}' onerror='window.hacked = 1'>"
    "<script>window.hacked = 1</script><style>* { display: none !important }</style>"
    f"[click](javascript:window.hacked=1) :red[red] $x^2$ \x1b[2J\x1b]0;title\x07 \u202egnp.dab\u202c\n"
)
PROGRAM = (
    "```python\n"
    f"def f(*args):\n    raise ValueError({HOSTILE!r})\n"
    "has_close_elements = separate_paren_groups = truncate_number = f\n"
    "```\n"
)


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Plan]:
    """A benchmark whose model, spec and reviews say nothing but hostile things, one line of them a megabyte long."""
    with serving_chat() as chat:
        chat.answer = streams({"content": HOSTILE + "x" * 1_000_000 + "\n" + PROGRAM})
        with open_workspace(home=tmp_path / "home", vllm_base_url=chat.url) as workspace:
            coder = {"coder": f"vllm/<img src={ELSEWHERE}>"}
            reviewed = Wanted("supervised", coder, {"max_iterations": 2, "checkpoint_interval": 1})
            plan = workspace.plan(Order([reviewed], "0:1", name=HOSTILE))
            workspace.run(plan)
        yield plan


def unharmed(page: Page) -> None:
    """The page is still ours: nothing ran, nothing hides or overlays it, and its title is koderz's."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert "koderz" in page.title().lower()
    assert page.locator(f"img[src='{ELSEWHERE}']").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0


def test_no_page_obeys_what_a_model_says(server: Serve, page: Page, hostile: Plan, tmp_path: Path) -> None:
    url = server(tmp_path / "home").url
    experiment = hostile.experiments()[0].id
    views = [f"experiment?experiment={experiment}&step={step}&view={view}" for step in (1, 2, 3) for view in VIEWS]
    for address in ("", "launch", f"live?benchmark={hostile.id}", "compare", "export?table=iterations", *views):
        page.goto(f"{url}/{address}")
        page.wait_for_selector('[data-testid="stAppViewContainer"]')
        page.wait_for_timeout(1200)  # time for a request that must not be made
        unharmed(page)


VIEWS = ("Program", "Diff", "Tests", "Prompt", "Answer", "Calls")
