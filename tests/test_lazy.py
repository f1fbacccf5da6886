"""What is loaded or made only when it is first asked for is what it would have been otherwise."""

from __future__ import annotations

import threading
import time
from threading import RLock

import pytest

import koderz_core
from koderz_core import Workspace, open_workspace
from koderz_core.errors import SandboxError
from koderz_core.lazy import part


class Owner:
    def __init__(self) -> None:
        self.guard = RLock()

    @part
    def slow(self) -> object:
        time.sleep(0.05)
        return object()


def test_every_service_of_a_workspace_is_made_of_what_it_needs() -> None:
    with open_workspace() as workspace:
        services = [name for name in vars(Workspace) if isinstance(vars(Workspace)[name], part)]
        assert len(services) > 10
        for name in services:
            assert getattr(workspace, name) is getattr(workspace, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        koderz_core.nothing  # type: ignore[attr-defined]  # noqa: B018 (looked up on purpose)


def test_threads_that_ask_at_once_get_the_same_part() -> None:
    owner, found = Owner(), set[object]()
    threads = [threading.Thread(target=lambda: found.add(owner.slow)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {owner.slow}


def test_nothing_is_made_of_a_workspace_that_is_only_opened_and_closed() -> None:
    with open_workspace() as workspace:
        pass
    assert set(vars(workspace)) == {"guard", "settings", "results", "names", "_closed"}


def test_a_part_that_is_first_asked_for_after_the_end_is_a_closed_one() -> None:
    with open_workspace() as workspace:
        pass
    with pytest.raises(SandboxError, match="is closed"):
        workspace.grading.sandbox.judge()
