"""Launch does not wait for the sandbox's self-test: the page can be filled in meanwhile, and says that it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core.errors import SandboxError
from koderz_core.sandbox.local_judge import Sandbox
from koderz_core.sandbox.selftest import SelfTest
from pages.ui.slow_results import WORKERS

Visit = Callable[..., AppTest]
RUNS = "Isolation of programs: the self-test of the sandbox is running."


def test_launch_is_complete_before_the_self_test_has_ended(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    go, self_test = threading.Event(), Sandbox.self_test

    def held(sandbox: Sandbox) -> SelfTest:
        go.wait(30)
        return self_test(sandbox)

    monkeypatch.setattr(Sandbox, "self_test", held)
    threading.Timer(20, go.set).start()
    app = visit("launch")
    assert not go.is_set(), "the page was drawn while the self-test was held"
    assert RUNS in said(app)
    assert app.button(key="start")
    go.set()
    WORKERS.submit(int).result()
    assert "self-test" in said(app.run())
    assert RUNS not in said(app)


def test_a_failed_self_test_keeps_the_order_from_starting(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_sandbox: Sandbox) -> SelfTest:
        raise SandboxError("The grader failed its self-test.")

    monkeypatch.setattr(Sandbox, "self_test", failing)
    app = visit("launch")
    assert "This benchmark cannot start yet." in said(app)
    assert "The grader failed its self-test." in said(app)
