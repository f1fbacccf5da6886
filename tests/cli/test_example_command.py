"""``koderz example``: a table without any model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from koderz_core.examples import EXAMPLE


def test_the_example_is_shown_with_the_way_on_and_the_way_out(koderz: Callable[..., Any]) -> None:
    said = koderz("example")
    assert said.code == 0
    assert "61 % [39, 80]" in said.out
    assert f"koderz analyze {EXAMPLE}" in said.out
    assert f"koderz delete {EXAMPLE} --yes" in said.out
    assert koderz("example").out == said.out
