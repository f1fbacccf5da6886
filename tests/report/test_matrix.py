"""The matrix of experiments: its places, and its finding."""

from __future__ import annotations

from dataclasses import fields, replace

from koderz_core.records.rows import ExperimentRow
from koderz_core.report.matrix import Matrix, matrix_finding, matrix_of_experiments

STATES = {
    "1": ("finished", "solved"),
    "0": ("finished", "unsolved"),
    "e": ("finished", "error"),
    "-": ("planned", None),
}


def repeats(label: str, problem: str, marks: str) -> list[ExperimentRow]:
    """Experiments of one configuration on one problem: solved (1), unsolved (0), error (e) or waiting (-)."""
    unknown = dict.fromkeys(field.name for field in fields(ExperimentRow))
    named = {"benchmark": "bench", "configuration": label, "label": label, "problem": problem, "iterations": 2}
    return [
        ExperimentRow(
            **{**unknown, **named, "id": f"{label}{problem}{at}", "repeat": at, "state": state, "outcome": said}
        )
        for at, (state, said) in enumerate(STATES[mark] for mark in marks)
    ]


def made() -> Matrix:
    rows = [*repeats("weak", "easy", "11"), *repeats("weak", "open", "--"), *repeats("weak", "hard", "00")]
    strong = [*repeats("strong", "easy", "11"), *repeats("strong", "hard", "1e")]
    return matrix_of_experiments([*rows, *strong])


def test_a_place_leads_to_its_experiment_and_any_other_to_none() -> None:
    matrix = made()
    assert matrix.problems == ("easy", "open", "hard")
    assert [(line.letter, line.label) for line in matrix.lines] == [("A", "strong"), ("B", "weak")]  # as in tables
    assert matrix.spot(0, 1, 0) is matrix.lines[1].spots[0]
    assert [spot and spot.experiment for spot in matrix.lines[0].spots] == [
        "strongeasy0", "strongeasy1", None, None, "stronghard0", "stronghard1",
    ]  # fmt: skip
    assert [matrix.spot(*place) for place in ((3, 0, 0), (0, 2, 0), (0, 0, 2), (-1, 0, 0))] == [None] * 4


def test_the_finding_names_the_best_and_the_worst_and_what_has_no_result() -> None:
    assert matrix_finding(replace(made(), hardest_first=True)) == (
        "3 problems × 2 configurations, hardest problems first; highest success rate: strong (3 of 3 solved); "
        "lowest: weak (2 of 4 solved); problems solved by no configuration: 0, solved in every experiment: 1; "
        "error: 1; waiting: 2."
    )
