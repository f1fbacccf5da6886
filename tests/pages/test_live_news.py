"""The news of a running benchmark that a WebSocket sends to open pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, the_workspace
from koderz_core.records import Plan
from pages.ui.downloads import signed
from pages.ui.live_board import PATH, report

Visit = Callable[..., AppTest]


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=[WebSocketRoute(PATH, report)]))


def test_news_arrive_when_the_journal_grows_all_of_one_moment(visit: Visit, client: TestClient) -> None:
    visit("overview")
    wanted = Wanted("supervised", {"coder": "scripted/slow"}, {"max_iterations": 20})
    plan = the_workspace().plans.plan(Order([wanted], "0:3"))
    the_workspace().runs.start(plan, 1)
    seen: list[dict[str, Any]] = []
    counts: list[int] = []
    given_up = monotonic() + 60  # a busy machine starts a run late
    with client.websocket_connect("/" + signed(PATH, {"benchmark": plan.id})) as socket:
        while len(seen) < 4 or (counts[0] == counts[-1] and monotonic() < given_up):
            socket.send_text("")
            seen.append(json.loads(socket.receive_text()))
            counts.append(int(dict(seen[-1]["figures"])["iterations"]))
    the_workspace().runs.stop(plan.id)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert {news["benchmark"] for news in seen} == {plan.id}
    for news in seen:
        totals = sum(int(line["total"].partition("/")[2] or 0) for line in news["cells"]["lines"])
        assert news["bar"]["text"].startswith(f"{totals} of 3 experiments")


def test_only_a_page_of_this_dashboard_gets_news(visit: Visit, recorded: Plan, client: TestClient) -> None:
    link = "/" + signed(PATH, {"benchmark": recorded.id})
    other = link.replace(recorded.id, "bench_000000000000")
    elsewhere = f"{PATH}?{signed('/api/export', {'benchmark': recorded.id}).partition('?')[2]}"
    for forged in (f"{PATH}?benchmark={recorded.id}", other, elsewhere):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(forged):
            pass
