"""Canonical solutions on tests: their verdicts, times and expected outputs, computed once in the sandbox and cached.

The cache is a folder with one JSON file per record, named by a hash of what it was computed from.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from ast import literal_eval
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from koderz_core.datasets.evalplus import arguments_of
from koderz_core.errors import DataError
from koderz_core.files import replacement
from koderz_core.grading import call_recorder
from koderz_core.protocols import Judge
from koderz_core.records import PlusTests, Problem, TestSet
from koderz_core.sandbox.inside.values import encode
from koderz_core.sandbox.reference import Answers

MEASURES_VERSION = "2"
"""Of what is kept; another one leaves what was kept unused."""
MOST_SECONDS = 60.0
"""What a canonical solution may take on its tests: the slowest of HumanEval and MBPP take a fraction of a second."""
LEAST_SECONDS = 4.0
_MOST_MEASURED = 3
_MOST_TEXTS = 250  # of a recording, each an answer of one probe
TIMES_CANONICAL = 4.0
"""EvalPlus 0.3.1 gives each input 4 times what the canonical solution took, at least 1 s; here all share one limit."""
EXPECTATIONS_VERSION = "2"
"""Of how calls and answers are computed and written down; another one leaves what was kept unused."""

Reference = Callable[[Problem, Sequence[str]], Answers]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Measure:
    """``marks`` as in a verdict; ``seconds`` is wall time, the least of several if it is long."""

    marks: str
    passed: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls that tests make of the function, by their keys; ``defaults`` as ``recording.key_of`` takes them.

    None of either: they could not be recorded.
    """

    defaults: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()

    def hold(self, arguments: Sequence[object]) -> bool:
        """Whether one of them passes the same values by place."""
        return call_recorder.key_of(arguments, self.defaults) in self.keys


class Canonical:
    """The canonical solutions on tests. Safe to use from several threads."""

    def __init__(self, folder: Path, judge: Callable[[], Judge]) -> None:
        """``judge`` is asked for when something is to be run: what is kept needs none."""
        self._kept = Kept(folder)
        self._judge = judge

    def on(self, problem: Problem, tests: TestSet) -> Measure | None:
        """None for a problem without a solution. Raises DataError for broken tests, SandboxError."""
        if not problem.canonical_solution:
            return None
        public = problem.public
        parts = [MEASURES_VERSION, problem.canonical_solution, public.preamble, public.entry_point, tests.source]
        return self._kept.get(parts, Measure) or self._kept.put(parts, self._measured(problem, tests))

    def calls(self, problem: Problem, tests: TestSet) -> Calls:
        """Those that the tests really make, found by running them in the solution's own process. Raises SandboxError.

        None are known where the solution fails the tests there, takes longer than the judge gives or is called with
        more than about 5,000 different arguments.
        """
        parts = ["calls", MEASURES_VERSION, problem.canonical_solution, problem.public.entry_point, tests.source]
        if kept := self._kept.get(parts, Calls):
            return kept
        found = self._recorded(problem, tests)
        return self._kept.put(parts, found) if found.keys else found

    def _recorded(self, problem: Problem, tests: TestSet) -> Calls:
        scope = "{'__name__': 'recording'}"
        call = f"({tests.source!r}, {problem.public.entry_point!r}, dict(globals()))"
        code = (
            f"{problem.canonical_solution}\n\n_koderz_ = {scope}\n"
            f"exec({inspect.getsource(call_recorder)!r}, _koderz_)\n_koderz_ = _koderz_['recorded']{call}\n"
        )
        asked = ["len(_koderz_)", *(f"_koderz_[{at}]" for at in range(_MOST_TEXTS))]
        said = [step.value for step in self._judge().probe(problem.public, code, asked)]
        if not (said and said[0] and said[0].isdecimal() and 1 < int(said[0]) <= _MOST_TEXTS):
            return Calls()
        defaults, *texts = (str(literal_eval(one or "''")) for one in said[1 : int(said[0]) + 1])
        keys = (key for text in texts for key in call_recorder.keys_in(text))
        return Calls(tuple(defaults.split(" ")) if defaults else (), frozenset(keys))

    def _measured(self, problem: Problem, tests: TestSet) -> Measure:
        """A busy machine makes it longer: where a limit would depend on that, it is measured again."""
        tests = replace(tests, seconds=MOST_SECONDS)
        found = [self._judge().check(problem, problem.canonical_solution, tests)]
        while len(found) < _MOST_MEASURED and limit(min(one.seconds for one in found)) > LEAST_SECONDS:
            found.append(self._judge().check(problem, problem.canonical_solution, tests))
        best = min(found, key=lambda one: (not one.passed, one.seconds))
        return Measure(best.marks, best.passed, best.seconds)


def limit(seconds: float) -> float:
    """How long a program may take where the canonical solution took so long."""
    return max(LEAST_SECONDS, TIMES_CANONICAL * seconds)


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
        parts = [EXPECTATIONS_VERSION, problem.canonical_solution, problem.public.entry_point, plus.inputs, plus.types]
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


class Kept:
    """The folder may be removed at any time. Safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, parts: Sequence[object], kind: type[Record]) -> Record | None:
        """What was kept under these parts; None if there is nothing yet, or it was spoiled."""
        try:
            return msgspec.json.decode(self._path(parts).read_bytes(), type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def put(self, parts: Sequence[object], record: Record) -> Record:
        """Keep a record if there is room for it, and hand it through: on a full disk it is computed anew next time."""
        path = self._path(parts)
        part = path.with_suffix(".part")  # fixed: two writers may spoil it, and then it is computed once more
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacement(path, part=part, private=False, durable=False) as file:
                file.write(msgspec.json.encode(record))
        return record

    def _path(self, parts: Sequence[object]) -> Path:
        return self._folder / f"{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()}.json"
