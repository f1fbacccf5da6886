"""What is believed of a worker's answer, and what a lost worker costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from koderz_core.errors import SandboxError
from koderz_core.sandbox.requests import Order, ask
from koderz_core.sandbox.workers import LostError, StalledError, Workers

OUTCOME = {"marks": "P", "failures": [], "error": None, "message": "", "test_seconds": [0.0]}
REPORT = {**OUTCOME, "completed": True, "seconds": 0.1, "shared": False, "changed": False, "stuck": False}
ORDER = Order("small/1", "", "", "", "double", 1.0, 1 << 20)


@dataclass
class Answering:
    """Stands for workers and for each of them: gives one answer after the other, raises those that are errors."""

    answers: list[Any]
    killed: list[bool] = field(default_factory=list)

    @contextmanager
    def worker(self, _family: str) -> Iterator[Answering]:
        yield self

    def answer(self, order: bytes, _seconds: float) -> bytes:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return json.dumps({"nonce": json.loads(order)["nonce"], **answer}).encode()

    def kill(self) -> None:
        self.killed.append(True)


def asked(*answers: object) -> tuple[Any, Answering]:
    workers = Answering(list(answers))
    return ask(cast(Workers, workers), ORDER), workers


def test_an_answer_to_another_order_is_no_answer_and_ends_the_worker():
    answer, workers = asked({"nonce": "another", "report": REPORT}, {"report": REPORT})
    assert answer.report.completed
    assert workers.killed == [True]


def test_an_answer_that_is_none_ends_the_worker():
    answer, workers = asked({"report": {**REPORT, "completed": "yes"}}, {"report": REPORT})
    assert answer.report.completed
    assert workers.killed == [True]


def test_a_worker_that_died_is_replaced_once():
    assert asked(LostError("it died"), {"report": REPORT})[0].report.completed
    with pytest.raises(SandboxError, match=r"small/1 \(failure of the second worker: it died\)"):
        asked(LostError("it died"), LostError("it died"))


def test_only_what_stalls_twice_on_the_program_s_answers_is_the_program_s():
    assert asked(StalledError(), StalledError())[0].stalled
    with pytest.raises(SandboxError):
        asked(StalledError(), LostError("it died"))
