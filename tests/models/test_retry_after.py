"""When a provider says to come back, in all the ways it may say so."""

from __future__ import annotations

import time

import pytest

from koderz_core.models.server import LONGEST_SECONDS, retry_after_seconds

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("head", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Sun, 06 Nov 1994 08:50:07 GMT"}, 30.0),
        ({"retry-after": "Sun, 06 Nov 1994 08:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "86400"}, LONGEST_SECONDS),
        ({"retry-after": "-3"}, 0.0),
        *(({"retry-after": text}, None) for text in ("", "soon", "nan", "inf", "9" * 400, "Sun, 99 Foo")),
        ({}, None),
    ],
)
def test_seconds_a_date_and_nonsense(head: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(head, NOW) == seconds


@pytest.mark.parametrize("text", ["Sun Nov  6 08:50:07 1994", "Sun, 06 Nov 1994 08:50:07 -0000"])
def test_a_date_without_a_zone_is_of_greenwich_wherever_koderz_is(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert retry_after_seconds({"retry-after": text}, NOW) == 30.0
    finally:
        monkeypatch.undo()
        time.tzset()
