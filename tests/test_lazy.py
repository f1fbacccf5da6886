"""What is loaded or made only when it is first asked for is what it would have been otherwise."""

from __future__ import annotations

import threading
import time
from threading import RLock

import pytest

from koderz_core import open_workspace
from koderz_core.errors import SandboxError
from koderz_core.lazy import part
from koderz_core.workspace import parts


class Owner:
    def __init__(self) -> None:
        self.guard = RLock()

    @part
    def slow(self) -> object:
        time.sleep(0.05)
        return object()


def test_every_part_of_a_workspace_is_where_it_is_looked_for() -> None:
    for name in parts.__all__:
        assert getattr(parts, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        parts.nothing  # type: ignore[attr-defined]  # noqa: B018 (looked up on purpose)


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
    assert set(vars(workspace)) == {"guard", "settings", "results", "_closed"}


def test_a_part_that_is_first_asked_for_after_the_end_is_a_closed_one() -> None:
    with open_workspace() as workspace:
        pass
    with pytest.raises(SandboxError, match="is closed"):
        workspace.sandbox.judge()
