"""Ensemble: gate tests first, then CodeBLEU among equals; every candidate is recorded."""

from __future__ import annotations

import pytest
from stage import Stage

from koderz_core.errors import PlanError
from koderz_core.events import ConsensusReached
from koderz_core.similarity import Weights, similarities
from koderz_core.strategies import create
from koderz_core.strategies.ensemble import Ensemble

LOOP = "def f(x):\n    total = 0\n    for _ in range(2):\n        total += x\n    return total"
RENAMED = LOOP.replace("total", "found")
OTHER = "def f(x):\n    return (lambda y: y << 1)(x)"
package = pytest.mark.usefixtures("_package")


@pytest.fixture
def _package() -> None:
    pytest.importorskip("codebleu", reason="the extra koderz[codebleu] is not installed")


def on(programs: list[str | None], passes: list[int]) -> Stage:
    return Stage(passes, programs)


def consensus(stage: Stage) -> ConsensusReached:
    (note,) = stage.notes
    assert isinstance(note, ConsensusReached)
    return note


def test_every_coder_writes_its_samples_from_the_same_prompt() -> None:
    stage = Stage([0, 0, 3, 0], coders=2)
    assert Ensemble(samples=2).solve(stage) == "def f(x):\n    return 3"
    assert (stage.members_asked, stage.tested) == ([0, 0, 1, 1], 4)
    assert len(set(stage.prompts("coder"))) == 1
    assert {sampling.temperature for _, _, sampling in stage.asked if sampling} == {0.8}


def test_most_gate_tests_win_and_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("koderz_core.strategies.ensemble.similarities")
    stage = on([LOOP, RENAMED, OTHER], [2, 2, 3])
    assert Ensemble().solve(stage) == OTHER
    note = consensus(stage)
    assert (note.chosen, note.by, [candidate.similarity for candidate in note.candidates]) == (3, "gate", [None] * 3)


@package
def test_of_equals_the_one_most_like_the_others_is_handed_in() -> None:
    stage = on([LOOP, RENAMED, OTHER], [2, 2, 2])
    assert Ensemble().solve(stage) in (LOOP, RENAMED)
    note = consensus(stage)
    scores = [candidate.similarity or 0.0 for candidate in note.candidates]
    assert (note.by, note.weights, min(scores)) == ("codebleu", (0.25,) * 4, scores[2])
    assert note.chosen == max(range(3), key=lambda place: (scores[place], place)) + 1


@package
def test_programs_that_are_not_among_the_best_are_scored_and_have_no_say() -> None:
    stage = on([OTHER, LOOP, RENAMED, OTHER + "  # again"], [1, 2, 2])
    assert Ensemble(samples=4).solve(stage) == RENAMED
    scores = [candidate.similarity for candidate in consensus(stage).candidates]
    ((_, alike), _) = similarities([LOOP, RENAMED], Weights.read("1,1,1,1"))
    assert scores[1] == scores[2] == alike  # each is scored by the other alone
    assert scores[0] == scores[3] is not None


@package
def test_a_program_that_came_twice_is_tested_once_and_counts_twice() -> None:
    stage = on([OTHER, OTHER + "  # again", LOOP], [1, 1])
    assert Ensemble().solve(stage) == OTHER + "  # again"
    assert [candidate.iteration for candidate in consensus(stage).candidates] == [1, 1, 2]


@package
def test_what_holds_no_program_or_does_not_parse_has_no_say() -> None:
    stage = on([None, "def f(x):\n    return (", LOOP, RENAMED], [0, 0, 0])
    assert Ensemble(samples=4).solve(stage) in (LOOP, RENAMED)
    candidates = consensus(stage).candidates
    assert [candidate.excluded for candidate in candidates] == ["no program", "cannot be compared", "", ""]
    assert [candidate.similarity is None for candidate in candidates] == [True, True, False, False]


def test_what_does_not_parse_is_handed_in_only_where_there_is_nothing_else() -> None:
    assert Ensemble(samples=2).solve(on([LOOP, "def f(x):\n    return ("], [0, 0])) == LOOP


def test_without_any_program_nothing_is_handed_in_and_that_is_recorded() -> None:
    stage = on([None, None, None], [])
    assert Ensemble().solve(stage) is None
    assert (consensus(stage).chosen, stage.tested) == (None, 0)


def test_weights_in_one_proportion_are_one_configuration() -> None:
    assert create("ensemble", {"weights": "1,1,1,1"}) == Ensemble()
    with pytest.raises(PlanError, match="is not a list of weights"):
        create("ensemble", {"weights": "1,2"})
    with pytest.raises(PlanError, match="`samples` must be at most 16, not 17"):
        create("ensemble", {"samples": 17})
