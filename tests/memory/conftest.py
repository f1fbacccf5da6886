"""A cortex on a file of its own, whose time the test sets, and short ways to call its tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from koderz_core.memory.cortex.database import Cortex, Reply
from koderz_core.memory.cortex.server import call

Ask = Callable[..., Reply]


@dataclass
class Clock:
    """Stands still until it is turned."""

    moment: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def turn(self, days: float) -> None:
        self.moment += timedelta(days=days)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cortex(tmp_path: Path, clock: Clock) -> Iterator[Cortex]:
    opened = Cortex(tmp_path / "cortex.db", clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def wait(clock: Clock) -> Callable[[float], None]:
    """``wait(3)``: three days later."""
    return clock.turn


@pytest.fixture
def ask(cortex: Cortex) -> Ask:
    """``ask("remember", title=..., content=...)``, as a client would."""

    def asked(tool: str, **arguments: Any) -> Reply:
        return call(cortex, tool, arguments)

    return asked
