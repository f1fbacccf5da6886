"""What stands in a cell of problem × configuration."""

from __future__ import annotations

import pytest
from made_trials import trials

from koderz_core.analysis.difficulty import difficulties
from koderz_core.report.difficulty import sign


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ("1", "✓"),
        ("111", "✓"),
        ("00", "✗"),
        ("101", "2/3"),
        ("e", "!"),
        ("c", "!"),
        ("-", "·"),
        ("11e", "2/2!"),
        ("0-", "0/1·"),
    ],
)
def test_a_sign_tells_results_from_their_lack_without_any_colour(marks, said):
    (problem,) = difficulties([("bench", "a")], trials("a", {"p": marks}))
    assert sign(problem.cells["bench", "a"]) == said


def test_where_a_problem_was_not_given_there_is_no_sign():
    assert sign(None) == ""
