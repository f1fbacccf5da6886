"""The server of the dashboard: imports ahead of time, and parts that repeat lose no message and no click."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

from pages.ui.server import CHANGE_SECONDS, fix_streamlit, imported_by, in_turn, wait_for_imports

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


class Session:
    """As much of a session of Streamlit, and of its event loop, as the order of its requests needs."""

    def __init__(self) -> None:
        self._event_loop = self
        self._scriptrunner: SimpleNamespace | None = None
        self._now, self._later = 0.0, list[tuple[float, Callable[[], None]]]()
        self.passed: list[str] = []

    def call_later(self, seconds: float, what: Callable[..., None], *arguments: object) -> None:
        self._later.append((self._now + seconds, partial(what, *arguments)))

    def wait(self, seconds: float) -> None:
        end = self._now + seconds
        while due := sorted((call for call in self._later if call[0] <= end), key=itemgetter(0)):
            self._later.remove(due[0])
            self._now = due[0][0]
            due[0][1]()
        self._now = end

    def run(self, state: ClientState | None) -> None:
        self.passed.append((state and state.fragment_id) or "page")
        self._scriptrunner = SimpleNamespace(_requests=ScriptRequests())

    def end_thread(self) -> None:
        assert self._scriptrunner
        self._scriptrunner._requests.on_scriptrunner_ready()

    def handle_last_message(self) -> None:
        self._scriptrunner = None


LONG = CHANGE_SECONDS * 2
REPEATS, CHANGED = ClientState(fragment_id="polled", is_auto_rerun=True), ClientState(fragment_id="changed")
CLICKED = ClientState()
ENDED, HANDLED = Session.end_thread, Session.handle_last_message


def passed_on(*steps: ClientState | Callable[[Session], None] | float | None) -> list[str]:
    """The requests that Streamlit gets. ``steps``: a request of the browser, what the session does, or seconds."""
    session = Session()
    request = in_turn(lambda of, state: cast(Session, of).run(state))
    for step in (*steps, LONG):
        if isinstance(step, float):
            session.wait(step)
        elif callable(step):
            step(session)
        else:
            request(cast(AppSession, session), step)
    return session.passed


def test_a_part_is_drawn_once_all_messages_of_the_last_run_are_handled_and_not_before() -> None:
    assert passed_on(CLICKED, ENDED, CHANGED) == ["page"]
    assert passed_on(CLICKED, ENDED, CHANGED, HANDLED) == ["page", "changed"]
    assert passed_on(REPEATS, LONG, REPEATS, ENDED) == ["polled"]
    assert passed_on(REPEATS, LONG, REPEATS, ENDED, LONG, HANDLED) == ["polled", "polled"]


def test_a_part_that_repeats_gives_way_to_the_change_that_its_request_already_contains() -> None:
    assert passed_on(REPEATS) == ["polled"]
    assert passed_on(REPEATS, CHANGE_SECONDS / 2, CLICKED) == ["page"]
    assert passed_on(REPEATS, CHANGE_SECONDS / 2, None) == ["page"]
    assert passed_on(REPEATS, CHANGE_SECONDS / 2, CHANGED) == ["changed"]
    assert passed_on(REPEATS, LONG, REPEATS, ENDED, LONG, CLICKED, ENDED, HANDLED) == ["polled", "page"]
    polled = (CLICKED, ENDED, HANDLED, REPEATS, LONG)
    assert passed_on(*polled, REPEATS, 0.98 * CHANGE_SECONDS, ENDED, CHANGED, HANDLED) == ["page", "polled", "changed"]


def test_a_part_that_repeats_gives_way_to_an_answer_on_its_way_and_is_drawn_again_afterwards() -> None:
    assert passed_on(CLICKED, REPEATS) == ["page"]
    assert passed_on(CLICKED, ENDED, REPEATS, HANDLED) == ["page"]
    assert passed_on(CLICKED, ENDED, HANDLED, REPEATS) == ["page", "polled"]
    assert passed_on(CLICKED, ENDED, HANDLED, REPEATS, LONG, REPEATS) == ["page", "polled", "polled"]


def test_sessions_do_not_wait_for_each_other() -> None:
    one, other = Session(), Session()
    request = in_turn(lambda of, state: cast(Session, of).run(state))
    request(cast(AppSession, one), REPEATS)
    request(cast(AppSession, other), CLICKED)
    one.wait(LONG)
    assert (one.passed, other.passed) == (["polled"], ["page"])


def test_the_dashboard_puts_requests_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptRunner, "_run_script", ScriptRunner._run_script)
    monkeypatch.setattr(AppSession, "request_rerun", before := lambda session, state: cast(Session, session).run(state))
    fix_streamlit()
    assert AppSession.request_rerun is not before
    session = Session()
    AppSession.request_rerun(cast(AppSession, session), REPEATS)
    assert session.passed == []
    session.wait(LONG)
    assert session.passed == ["polled"]
