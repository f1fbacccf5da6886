"""Finding one among many by some words."""

from __future__ import annotations

import pytest

from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.status import benchmarks_of, experiments_of

BENCHMARKS = [
    BenchmarkRow(
        **{**dict.fromkeys(BenchmarkRow.__slots__), "id": f"bench_{name}", "name": name, "state": "finished"}
        | {"dataset": "mbpp", "models": (f"ollama/{name}",)}
    )
    for name in ("Small", "Large")
]
EXPERIMENTS = [
    ExperimentRow(
        **{**dict.fromkeys(ExperimentRow.__slots__), "id": f"exp_{at}", "problem": f"HumanEval/{at}"}
        | {"label": "repair", "state": "finished", "outcome": outcome}
    )
    for at, outcome in enumerate(("solved", "unsolved"))
]


@pytest.mark.parametrize(
    ("words", "found"), [("", 2), ("small", 1), ("LARGE mbpp", 1), ("large small", 0), ("ollama", 2)]
)
def test_every_word_has_to_occur_in_what_is_told_of_a_benchmark(words, found):
    assert len(benchmarks_of(BENCHMARKS, words)) == found


@pytest.mark.parametrize(("words", "found"), [("", 2), ("unsolved", 1), ("humaneval/0 repair", 1), ("exp_7", 0)])
def test_every_word_has_to_occur_in_what_is_told_of_an_experiment(words, found):
    assert len(experiments_of(EXPERIMENTS, words)) == found
