"""What a model says is shown, never obeyed: no page changes, no request leaves."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from chat_server import Answer, serving_chat, streams
from playwright.sync_api import Page, expect
from serving import NO_WEIGHTS, Serve
from settled import DRAWN
from test_first_walk_in_browser import show

from koderz_core import Order, Wanted, open_workspace
from koderz_core.records import Plan

ELSEWHERE = "https://elsewhere.example/seen.png"
PAGES = ("Home", "Summary", "Live", "Experiments", "Problems")  # in an order in which each leads to the next
VIEWS = ("Program", "Diff", "Tests", "Calls", "Answer")  # of a step; the first that is seen is Prompt
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
    """A benchmark whose model, spec and reviews say only hostile things, one line of which has 200,000 characters."""
    with serving_chat() as chat:
        chat.answer = streams({"content": HOSTILE + "x" * 200_000 + "\n" + PROGRAM})
        with open_workspace(home=tmp_path / "home", vllm_base_url=chat.url) as workspace:
            coder = {"coder": f"vllm/<img src={ELSEWHERE}>"}
            reviewed = Wanted("supervised", coder, {"max_iterations": 2, "checkpoint_interval": 1})
            plan = workspace.plans.plan(Order([reviewed], "0:1", name=HOSTILE))
            workspace.runs.run(plan)
        yield plan


def unharmed(page: Page) -> None:
    """The page is still ours: nothing ran, nothing hides or overlays it, and its title is koderz's."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert "koderz" in page.title().lower()
    assert page.locator(f"img[src='{ELSEWHERE}']").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0


def stays_unharmed(page: Page) -> None:
    """The page is unharmed once all of it is drawn."""
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    page.wait_for_selector(DRAWN, state="attached")
    page.wait_for_timeout(200)  # time for a request that must not be made
    unharmed(page)


def test_no_page_obeys_what_a_person_pastes_or_a_model_is_saying_just_now(
    server: Serve, page: Page, tmp_path: Path
) -> None:
    with serving_chat() as chat:
        chat.answer, chat.models = drips(HOSTILE, pieces=300), (f"![x]({ELSEWHERE})<b>",)
        url = server(tmp_path / "home", {"VLLM_BASE_URL": chat.url, **NO_WEIGHTS}).url
        page.goto(f"{url}/launch")
        page.locator(".st-key-row-1").get_by_role("button", name="Remove").click()
        expect(page.get_by_role("button", name="Remove")).to_have_count(0)
        box = page.get_by_role("combobox", name="coder")
        box.fill(f"vllm/{chat.models[0]}")
        box.press("Enter")
        page.get_by_text("Your own problem").click()
        page.get_by_label("Signature and description").fill(f'def f():\n    r"""{HOSTILE}"""\n'.replace("\x1b", ""))
        page.get_by_label("Tests", exact=True).fill("assert f() == 1")
        page.get_by_role("button", name="Use this problem").click()
        unharmed(page)
        page.get_by_role("button", name="Start").click()
        expect(page.locator(".st-key-live-text")).to_contain_text("window.hacked", timeout=60_000)
        unharmed(page)


def drips(text: str, pieces: int) -> Answer:
    """Says the text again and again, slowly."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for _ in range(pieces):
            chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
            try:
                handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            except OSError:  # the dashboard has ended
                return
            time.sleep(0.3)

    return answer


def test_no_page_obeys_what_a_model_says(server: Serve, page: Page, hostile: Plan, tmp_path: Path) -> None:
    """Pages and views are opened by clicks, as a person does: what has run on one would be seen on all that follow."""
    url = server(tmp_path / "home").url
    page.goto(f"{url}/launch")
    stays_unharmed(page)
    for name in PAGES:
        show(page, name)
        stays_unharmed(page)
    page.goto(f"{url}/export?table=iterations")
    stays_unharmed(page)
    page.goto(f"{url}/experiment?experiment={hostile.experiments()[0].id}&step=1")
    stays_unharmed(page)
    for view in VIEWS:
        page.get_by_role("radio", name=view, exact=True).first.click()
        expect(page).to_have_url(re.compile(f"view={view}"))
        stays_unharmed(page)
    for step in (2, 3):
        page.locator(".st-key-step-down button").click()
        expect(page).to_have_url(re.compile(f"step={step}.*view=Answer|view=Answer.*step={step}"))
        stays_unharmed(page)
