"""What is said of a model whose calls fail: what went wrong, how often, and what happens next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from koderz_core.events import CallFailed, CallFinished, CallStarted, Entry, ExperimentFinished
from koderz_core.events.outages import Troubles
from koderz_core.records import Cost, Sampling, Usage
from koderz_core.report.status import BLIP_SECONDS, ENDED_SECONDS, SHOWN_SECONDS, trouble_notices

MODEL = "anthropic/claude"
STARTED = CallStarted("coder", 0, MODEL, "r", (), Sampling(), 0, 1)
FAILED = CallFailed("no", 0.5, True, 500, None, 10.0, retries=5)
LAST = replace(FAILED, wait_seconds=None)
ANSWERED = CallFinished("t", "stop", Usage(), Cost(0.0, ""), 1.0, None, Sampling())
ERROR = ExperimentFinished("error", None, None, None, 1.0, error="no")


def read(*happened: tuple[float, object], experiment: str = "exp_1") -> Troubles:
    troubles = Troubles()
    for at, event in happened:
        troubles.add(Entry(at, event, experiment, 0))
    return troubles


def said(troubles: Troubles, now: float) -> list[str]:
    return [notice.text.removeprefix(f"{MODEL}: ") for notice in trouble_notices(troubles.known(), now)]


THREE = ((0, STARTED), (0, FAILED), (2, STARTED), (4, FAILED), (8, STARTED), (12, FAILED))


ONCE, THRICE, ROOM = (
    "HTTP 500 (once).",
    "HTTP 500 (3 times in 12 s).",
    "The next call starts as soon as the provider's limits allow it;",
)
REFUSED, UNREACHED = replace(LAST, status=401, retries=0), replace(FAILED, status=None, message="not reached\nmore")


@pytest.mark.parametrize(
    ("happened", "now", "text"),
    [
        (THREE, 14, f"{THRICE} Next call in 8 s; 2 of 5 retries used."),
        (THREE, 23, f"{THRICE} {ROOM} 2 of 5 retries used."),
        ((*THREE, (22, STARTED)), 23, f"{THRICE} A call is in progress; 3 of 5 retries used."),
        (
            (*THREE, (13, LAST)),
            14,
            "HTTP 500 (4 times in 13 s). The maximum number of retries (5) is reached: the experiment ends with an "
            "error.",
        ),
        (
            ((0, STARTED), (0, REFUSED)),
            3,
            "HTTP 401 (once). Calls with this error are not retried: the experiment ends with an error.",
        ),
        (((0, STARTED), (0, UNREACHED)), 3, "not reached (once). Next call in 7 s; 0 of 5 retries used."),
        ((*THREE, (22, STARTED), (23, ANSWERED)), 24, "The model answers again, after 3 failed calls in 23 s."),
    ],
)
def test_a_line_says_what_failed_how_often_and_what_happens_next(happened: Any, now: float, text: str) -> None:
    assert said(read(*happened), now) == [text]


def test_an_open_circuit_breaker_is_named_with_its_end_and_an_answer_closes_it() -> None:
    troubles = read((0, STARTED), (12, replace(FAILED, closed_seconds=15.0)))
    (text,) = said(troubles, 15)
    assert text.startswith("HTTP 500 (once). The circuit breaker is open: experiments with this provider wait until ")
    assert text.endswith(" (in 12 s).")
    troubles.add(Entry(28, replace(STARTED, model="anthropic/other"), "exp_2", 0))
    troubles.add(Entry(29, ANSWERED, "exp_2", 0))
    assert said(troubles, 30) == [f"{ONCE} {ROOM} 0 of 5 retries used."]


def test_a_model_has_not_recovered_while_another_call_waits_for_its_next_attempt() -> None:
    troubles = read(*THREE)
    troubles.add(Entry(13, STARTED, "exp_2", 0))
    troubles.add(Entry(14, ANSWERED, "exp_2", 0))
    assert said(troubles, 14)[0].startswith("HTTP 500 (3 times")


def test_trouble_is_not_shown_where_it_is_over_at_once_and_no_longer_than_it_matters() -> None:
    assert said(read((0, STARTED), (0, FAILED)), BLIP_SECONDS / 2) == []
    assert said(read((0, STARTED), (0, FAILED), (1, STARTED), (1, ANSWERED)), 2) == []
    assert said(read(*THREE, (22, STARTED), (23, ANSWERED)), 24 + SHOWN_SECONDS) == []
    ended = read((0, STARTED), (0, LAST), (0, ERROR))
    assert said(ended, ENDED_SECONDS) != []
    assert said(ended, ENDED_SECONDS + 1) == []


def test_what_a_provider_says_cannot_steer_a_terminal() -> None:
    hostile = replace(FAILED, status=None, message="\x1b[2Jgone " + "x" * 5000)
    (text,) = said(read((0, STARTED), (0, hostile)), 3)
    assert "\x1b" not in text
    assert len(text) < 400
