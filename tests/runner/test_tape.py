"""The tape of an experiment: a step is answered from it only if the same was asked when it was recorded."""

from __future__ import annotations

import pytest

from koderz_core.errors import PlanError
from koderz_core.records import Remaining, Verdict
from koderz_core.runner.tape import Recorded, Tape

ANSWER = Remaining(3, None)
TAPE = Tape({1: Recorded("hash of a request", ANSWER, 0.0)})


def test_the_answer_to_the_same_request_is_the_recorded_one_and_then_the_tape_has_run_out() -> None:
    assert TAPE.answer(1, "hash of a request", Remaining) is ANSWER
    assert TAPE.answer(2, "hash of a request", Remaining) is None


def test_the_answer_to_another_request_is_refused() -> None:
    with pytest.raises(PlanError, match="Step 1 is not what the journal recorded"):
        TAPE.answer(1, "hash of another request", Remaining)


def test_an_answer_of_another_kind_is_refused() -> None:
    with pytest.raises(PlanError, match="Step 1 is not what the journal recorded"):
        TAPE.answer(1, "hash of a request", Verdict)
