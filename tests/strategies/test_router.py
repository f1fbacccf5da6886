"""Router: whom it asks by the predictions, and when it asks another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from stage import Stage

from koderz_core.errors import InfrastructureError
from koderz_core.records import Memory, Query
from koderz_core.strategies.router import Router


def ranking(*coders: tuple[int, float, float]) -> list[Memory]:
    """Coders with P(right) and dollars, the preferred one first."""
    return [
        Memory("", f"m{at}", {"member": str(at), "probability": str(p), "propensity": "0.5", "usd": str(usd)})
        for at, p, usd in coders
    ]


@dataclass
class Judged(Stage):
    """A stage whose selector judges the program number n as right with the probability ``judgements[n]``."""

    judgements: Sequence[float] = ()
    judged: list[Query] = field(default_factory=list)

    def recall(self, query: Query) -> list[Memory]:
        if "iteration" not in query.tags:
            return list(super().recall(query))
        self.judged.append(query)
        return [Memory("", "s", {"probability": str(self.judgements[len(self.judged) - 1])})]


def test_the_preferred_coder_is_asked_once_and_the_next_only_without_a_program() -> None:
    stage = Stage(coders=2, remembered=ranking((1, 0.9, 0.1), (0, 0.5, 0.1)))
    assert Router("made").solve(stage) == "def f(x):\n    return 1"
    assert (stage.members_asked, stage.tested) == ([1], 0)
    stage = Stage(coders=2, programs=[None], remembered=ranking((1, 0.9, 0.1), (0, 0.5, 0.1)))
    assert Router("made").solve(stage) == "def f(x):\n    return 2"
    assert stage.members_asked == [1, 0]


def test_the_next_coder_is_asked_only_if_an_error_costs_more_than_its_answer() -> None:
    def asked(p: float, error_usd: float) -> list[int]:
        stage = Judged(coders=2, passes=(1, 3), remembered=ranking((0, 0.5, 0.01), (1, 0.8, 0.05)), judgements=(p, 0.8))
        Router("made", error_usd=error_usd, checks=True).solve(stage)
        return stage.members_asked

    assert asked(0.3, 1.0) == [0, 1]  # 0.7 > 0.05 + 0.2
    assert asked(0.76, 1.0) == [0]  # 0.24 < 0.05 + 0.2
    assert asked(0.3, 0.05) == [0]  # 0.035 < 0.05 + 0.01


def test_an_answer_without_a_program_is_a_wrong_answer_and_costs_no_more_than_one() -> None:
    def asked(usd: float) -> list[int]:
        coders = ranking((0, 0.5, 0.01), (1, 0.1, usd))
        stage = Judged(coders=2, programs=[None], passes=(0, 3), remembered=coders, judgements=(0.0, 0.9))
        Router("made", error_usd=1.0, checks=True).solve(stage)
        return stage.members_asked

    assert asked(0.05) == [0, 1]  # 1.0 > 0.05 + 0.9
    assert asked(0.2) == [0]  # 1.0 < 0.2 + 0.9


def test_the_program_that_is_most_probably_right_is_submitted() -> None:
    stage = Judged(coders=2, passes=(2, 0), remembered=ranking((0, 0.5, 0), (1, 0.9, 0)), judgements=(0.4, 0.1))
    assert Router("made", error_usd=1.0, checks=True).solve(stage) == "def f(x):\n    return 1"
    first, second = (query.tags for query in stage.judged)
    assert (first["passed"], first["total"], first["iteration"], second["votes"]) == ("2", "3", "1", "0.5")


def test_without_a_prediction_the_experiment_ends_as_an_error_of_koderz() -> None:
    with pytest.raises(InfrastructureError, match="made no prediction"):
        Router("made").solve(Stage(coders=2))
