"""What is expected of plus tests: computed once per problem from its canonical solution, kept in the cache."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.datasets.types import arguments_of
from koderz_core.errors import DataError
from koderz_core.grading.kept import Kept
from koderz_core.records import PlusTests, Problem
from koderz_core.sandbox.inside.values import encode
from koderz_core.sandbox.reference import Answers

VERSION = "2"
"""Of how calls and answers are computed and written down; another one leaves what was kept unused."""

Reference = Callable[[Problem, Sequence[str]], Answers]


@dataclass(frozen=True, slots=True)
class Expected:
    """``calls`` and ``answers`` as ``records.Cases``, both empty if there are no inputs.

    ``seconds``: processor time that the canonical solution took for all inputs.
    """

    calls: str
    answers: str
    seconds: float


class Expectations:
    """The answers of canonical solutions; ``folder`` may be removed at any time. Safe to use from several threads."""

    def __init__(self, folder: Path, reference: Reference) -> None:
        self._kept = Kept(folder)
        self._reference = reference

    def of(self, problem: Problem, plus: PlusTests) -> Expected:
        """Without inputs whose right answer is too large to be judged, such as 5 of Mbpp/255's 109.

        Raises DataError if the canonical solution fails, inputs are not as published or no answer is plain data, and
        SandboxError.
        """
        parts = [VERSION, problem.canonical_solution, problem.public.entry_point, plus.inputs, plus.types]
        return self._kept.get(parts, Expected) or self._kept.put(parts, self._computed(problem, plus))

    def _computed(self, problem: Problem, plus: PlusTests) -> Expected:
        calls = _calls(problem, plus)
        if not calls:  # as Mbpp/793
            return Expected("", "", 0.0)
        answers = self._reference(problem, calls)
        pairs = [(call, out) for call, out in zip(calls, answers.outputs, strict=True) if out is not None]
        if not pairs:
            raise DataError(f"No plus test of {problem.id} has an answer that can be judged. Leave out that problem.")
        calls, outputs = zip(*pairs, strict=True)
        return Expected("\n".join(calls), "\n".join(outputs), answers.seconds)


def _calls(problem: Problem, plus: PlusTests) -> Sequence[str]:
    try:
        return [json.dumps(encode(list(arguments)), separators=(",", ":")) for arguments in arguments_of(plus)]
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise DataError(
            f"The plus inputs of {problem.id} are not as published: {error}. Place the file anew."
        ) from error
