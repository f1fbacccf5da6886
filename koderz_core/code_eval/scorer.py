"""A scorer for Inspect that grades programs in koderz' sandbox. Needs the extra ``koderz[inspect]``."""

from __future__ import annotations

import asyncio
from typing import Any

from koderz_core.errors import UsageError
from koderz_core.exports.inspect_events import score_of
from koderz_core.workspace import the_workspace
from koderz_core.workspace.checks import Check


def inspect_scorer(dataset: str = "") -> Any:  # Any: a Scorer of inspect_ai
    """Return a scorer: C if the program in the model's reply passes all tests, else I; with accuracy and its error.

    With ``dataset``, the id of a sample is the id of a problem in it. Otherwise the tests are asserts in the sample's
    metadata ``tests``, or else in its target. A sample that could not be judged is unscored, so no metric counts it.
    Raises UsageError if inspect_ai is not installed.
    """
    try:
        from inspect_ai.scorer import accuracy, scorer, stderr  # noqa: PLC0415 (optional and heavy)
    except ImportError as error:
        raise UsageError("This scorer needs inspect_ai. Install it: pip install 'koderz[inspect]'") from error

    @scorer(metrics=[accuracy(), stderr()], name="koderz")  # type: ignore[untyped-decorator]  # mypy does not follow this package
    def koderz() -> Any:  # Any: as above
        async def score(state: Any, target: Any) -> Any:  # Any: a TaskState, a Target and a Score of inspect_ai
            return await asyncio.to_thread(_score, dataset, state, target)

        return score

    return koderz()


def _score(dataset: str, state: Any, target: Any) -> Any:  # Any: as above
    from inspect_ai.scorer import Score  # noqa: PLC0415 (as above)

    graded = _check(dataset, state, target).grade("answer", state.output.completion)
    if graded.verdict is None:
        return Score.unscored(reason="scoring_failed", explanation=graded.trouble)
    return score_of(graded.verdict, graded.sample.program.code)


def _check(dataset: str, state: Any, target: Any) -> Check:  # Any: as above
    if dataset:
        return the_workspace().checks.of_problem(dataset, state.sample_id)
    return the_workspace().checks.of_tests(state.metadata.get("tests") or target.text)
