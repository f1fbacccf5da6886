"""What is told of an experiment's course: programs that came again, and what became of a review."""

from __future__ import annotations

from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import IterationRow
from koderz_core.report.timeline import passed_sections, repeated, review_outcome


def tried(number: int, code: str | None, passed: int = 0) -> IterationRow:
    marks = "P" * passed + "F" * (4 - passed)
    return IterationRow(
        "exp_0", number, number, 0.0, code, "", False, marks, passed, 4, "assertion", "", 0.1, "strong", ()
    )


def review(after: int, sections: dict[str, str] | None = None, passed_on: tuple[str, ...] = ()) -> NoteRow:
    return NoteRow("exp_0", after, 0.0, "checkpoint_reviewed", after, "", sections=sections or {}, passed_on=passed_on)


def test_a_program_that_came_again_is_told_with_the_first_of_its_kind() -> None:
    rows = [tried(1, "a"), tried(2, "b"), tried(3, "a"), tried(4, None), tried(5, None), tried(6, "a")]
    assert repeated(rows) == {3: 1, 6: 1}


def test_what_came_of_a_review_is_told_by_the_attempts_between_its_neighbours() -> None:
    rows = [tried(place, "a", passed) for place, passed in enumerate([3, 0, 1, 2, 0], 1)]
    notes = [review(1), review(3), review(5)]
    told = [review_outcome(note, notes, rows) for note in notes]
    assert told[0] == "gate tests passed by the best program: 3 of 4 before the review, 1 of 4 after it"
    assert told[1] == "gate tests passed by the best program: 1 of 4 before the review, 2 of 4 after it"
    assert told[2] == "gate tests passed by the best program: 2 of 4 before the review, none after it"


def test_what_was_not_passed_on_is_named_and_given() -> None:
    said, kept_back = passed_sections(review(1, {"failing tests": "<b>", "fix": "add"}, ("fix",)))
    assert said == "given to the coder: fix; withheld: failing tests"
    assert kept_back == {"failing tests": "<b>"}
    assert passed_sections(review(1, {"edge cases": "none"}, ("whole",))) == (
        "given to the coder: the whole review",
        {},
    )
    assert passed_sections(review(1)) == ("", {})
