"""The server of the dashboard: imports ahead of time, and no lost messages of a part that has ended."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

from pages.ui.server import (
    CHANGE_SECONDS,
    RETRY_SECONDS,
    after_changes,
    after_last_message,
    imported_by,
    wait_for_imports,
)

ROOT = Path(__file__).parents[2]
WARM = """
import sys
from pathlib import Path
from pages.ui.server import begin_warm_up, wait_for_imports
script = Path("pages/overview.py")
assert "pandas" not in sys.modules
begin_warm_up(script)
wait_for_imports()
print(*sys.modules)
"""


def test_whoever_waits_finds_all_that_overview_imports() -> None:
    done = subprocess.run([sys.executable, "-c", WARM], cwd=ROOT, capture_output=True, text=True, check=True)
    imported = done.stdout.split()
    needed = set(imported_by(ROOT / "pages" / "overview.py"))
    assert needed <= set(imported)
    assert {"pages.ui.tables", "pandas"} <= set(imported)


def test_where_nothing_was_begun_nobody_waits() -> None:
    wait_for_imports()


async def requested_parts(*, last_message_handled: bool) -> list[str]:
    """The parts whose requests Streamlit got after a run of a session had ended."""
    ended = ScriptRequests()
    ended.on_scriptrunner_ready()  # nothing is left to run
    session = SimpleNamespace(_scriptrunner=SimpleNamespace(_requests=ended), _event_loop=asyncio.get_running_loop())
    parts: list[str] = []
    request = after_last_message(lambda _, state: parts.append(state.fragment_id if state else ""))
    request(cast(AppSession, session), ClientState(fragment_id="polled"))
    if last_message_handled:
        session._scriptrunner = None
    await asyncio.sleep(RETRY_SECONDS * 4)
    return parts


def test_a_part_is_drawn_once_all_messages_of_the_last_run_are_handled_and_not_before() -> None:
    assert asyncio.run(requested_parts(last_message_handled=False)) == []
    assert asyncio.run(requested_parts(last_message_handled=True)) == ["polled"]


async def requests_passed_on(*states: ClientState) -> list[str]:
    """The requests that Streamlit gets of those that a browser sends at once."""

    class Session:  # a SimpleNamespace has no hash
        _event_loop = asyncio.get_running_loop()

    passed: list[str] = []
    request = after_changes(lambda _, state: passed.append(state.fragment_id or "page" if state else ""))
    session = cast(AppSession, Session())
    for state in states:
        request(session, state)
    await asyncio.sleep(CHANGE_SECONDS * 4)
    return passed


def test_a_part_that_repeats_gives_way_to_the_change_that_its_request_already_contains() -> None:
    repeats, clicked = ClientState(fragment_id="polled", is_auto_rerun=True), ClientState()
    assert asyncio.run(requests_passed_on(repeats, clicked)) == ["page"]
    assert asyncio.run(requests_passed_on(repeats, ClientState(fragment_id="changed"))) == ["changed"]
    assert asyncio.run(requests_passed_on(repeats)) == ["polled"]
    assert asyncio.run(requests_passed_on(clicked, repeats)) == ["page", "polled"]
