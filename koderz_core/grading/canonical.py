"""Verdicts, times and expected outputs of canonical solutions, computed once in the sandbox and cached.

The cache is a folder with one JSON file per record, named by a hash of the record's inputs.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
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
from koderz_core.python_parser import literal
from koderz_core.records import Cases, PlusTests, Problem, TestSet
from koderz_core.sandbox.inside.values import encode
from koderz_core.sandbox.reference import Answers

MEASURES_VERSION = "3"
"""Version of the cached measures and calls. A change makes koderz ignore records of other versions."""
MOST_SECONDS = 60.0
"""Time limit for a canonical solution on its tests. The slowest of HumanEval and MBPP take a fraction of a second."""
LEAST_SECONDS = 4.0
_MOST_MEASUREMENTS = 3
_MOST_TEXTS = 250  # texts of a recording, each one answer of a probe
TIMES_CANONICAL = 4.0
LEAST_TEST_SECONDS = 1.0
"""EvalPlus 0.3.1 allows each input 4 times the canonical solution's time, and at least 1 s: ``evalplus/config.py``,
DEFAULT_GT_TIME_LIMIT_FACTOR and DEFAULT_MIN_TIME_LIMIT. So does koderz for plus tests."""
EXPECTATIONS_VERSION = "3"
"""Version of the cached expectations. A change makes koderz ignore records of other versions."""

Reference = Callable[[Problem, Sequence[str]], Answers]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Measure:
    """``marks`` as in a verdict; ``seconds`` is wall time, the shortest of several measurements if it is long.

    ``test_seconds``: that of each case, empty for other tests.
    """

    marks: str
    passed: bool
    seconds: float
    test_seconds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Calls:
    """The keys of the calls that tests make of the function; ``defaults`` as in ``call_recorder.key_of``.

    Both are empty if the calls could not be recorded.
    """

    defaults: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()

    def include(self, arguments: Sequence[object]) -> bool:
        """Whether one of the calls passes equal values as positional arguments."""
        return call_recorder.key_of(arguments, self.defaults) in self.keys


class Canonical:
    """Runs canonical solutions on tests. Safe to use from several threads."""

    def __init__(self, folder: Path, judge: Callable[[], Judge]) -> None:
        """``judge`` is called only to run something: a cached record needs no judge."""
        self._cache = RecordCache(folder)
        self._judge = judge

    def on(self, problem: Problem, tests: TestSet) -> Measure | None:
        """The measure, or None for a problem without a solution. Raises DataError for broken tests, SandboxError."""
        if not problem.canonical_solution:
            return None
        public = problem.public
        parts = [MEASURES_VERSION, problem.canonical_solution, public.preamble, public.entry_point, tests.source]
        if tests.cases:
            parts += [public.kind, tests.cases.calls, tests.cases.answers]
        if problem.repository:
            parts += [problem.repository.tree.sha256, problem.repository.fault, *tests.ids]
        return self._cache.get(parts, Measure) or self._cache.put(parts, self._measure(problem, tests))

    def calls(self, problem: Problem, tests: TestSet) -> Calls:
        """The calls that the tests make, recorded by running them in the solution's own process. Raises SandboxError.

        The result is empty if the solution fails the tests there, exceeds the judge's time limit or is called with more
        than about 5,000 different arguments.
        """
        parts = ["calls", MEASURES_VERSION, problem.canonical_solution, problem.public.entry_point, tests.source]
        if cached := self._cache.get(parts, Calls):
            return cached
        calls = self._record(problem, tests)
        return self._cache.put(parts, calls) if calls.keys else calls

    def arguments(self, problem: Problem, tests: TestSet) -> list[object]:
        """The calls that the tests make: each a list of arguments, or a text that says why it is not JSON.

        Empty as ``calls``. The solution could forge them, so they are hostile. Raises SandboxError.
        """
        try:
            calls = json.loads(bytes.fromhex("".join(self._recording(problem, tests, "arguments"))) or "[]")
        except (ValueError, RecursionError):
            return []
        return calls if isinstance(calls, list) else []

    def _record(self, problem: Problem, tests: TestSet) -> Calls:
        defaults, *texts = self._recording(problem, tests, "recorded") or [""]
        keys = (key for text in texts for key in call_recorder.keys_in(text))
        return Calls(tuple(defaults.split(" ")) if defaults else (), frozenset(keys)) if texts else Calls()

    def _recording(self, problem: Problem, tests: TestSet, what: str) -> list[str]:
        """The texts of a function of ``call_recorder``; empty if there are too many."""
        scope = "{'__name__': 'recording'}"
        call = f"({tests.source!r}, {problem.public.entry_point!r}, dict(globals()))"
        code = (
            f"{problem.canonical_solution}\n\n_koderz_ = {scope}\n"
            f"exec({inspect.getsource(call_recorder)!r}, _koderz_)\n_koderz_ = _koderz_[{what!r}]{call}\n"
        )
        expressions = ["len(_koderz_)", *(f"_koderz_[{at}]" for at in range(_MOST_TEXTS))]
        count, *values = [step.value for step in self._judge().probe(problem.public, code, expressions)] or [None]
        if not (count and count.isdecimal() and 0 < int(count) <= _MOST_TEXTS):
            return []
        return [str(literal(value or "''")) for value in values[: int(count)]]

    def _measure(self, problem: Problem, tests: TestSet) -> Measure:
        """Measures again if the time limit would depend on it, because a busy machine prolongs the time."""
        cases = tests.cases and replace(tests.cases, limits="")
        tests = replace(tests, seconds=MOST_SECONDS, cases=cases)
        verdicts = [self._judge().check(problem, problem.canonical_solution, tests)]
        while len(verdicts) < _MOST_MEASUREMENTS and limit(min(run.seconds for run in verdicts)) > LEAST_SECONDS:
            verdicts.append(self._judge().check(problem, problem.canonical_solution, tests))
        best = min(verdicts, key=lambda verdict: (not verdict.passed, verdict.seconds))
        each = best.test_seconds if cases else ()
        if best.passed and cases:
            each = tuple(map(min, zip(*(run.test_seconds for run in verdicts if run.passed), strict=True)))
        return Measure(best.marks, best.passed, best.seconds, each)


def limits_of_cases(cases: Cases, measure: Measure | None) -> str:
    """The time limit of a program on each case: the given limit, raised by ``limit_each`` if that is larger.

    "" if no limit is known: the solution was not measured or fails, and the cases have no limits.
    """
    given = list(map(float, cases.limits.split("\n"))) if cases.limits else []
    measured = list(map(limit_each, measure.test_seconds)) if measure and measure.passed else []
    known = [list(map(max, zip(given, measured, strict=True)))] if given and measured else [given or measured]
    return "\n".join(f"{seconds:g}" for seconds in known[0])


def limit(seconds: float) -> float:
    """The time limit of a program on tests for which the canonical solution took ``seconds``."""
    return max(LEAST_SECONDS, TIMES_CANONICAL * seconds)


def limit_each(seconds: float) -> float:
    """The time limit of a program on one plus test, for which the canonical solution took ``seconds``."""
    return max(LEAST_TEST_SECONDS, TIMES_CANONICAL * seconds)


@dataclass(frozen=True, slots=True)
class Expected:
    """``calls`` and ``answers`` as in ``records.Cases``, both empty if there are no inputs.

    ``seconds``: processor time of the canonical solution for each input.
    """

    calls: str
    answers: str
    seconds: tuple[float, ...]


class Expectations:
    """The answers of canonical solutions; ``folder`` may be removed at any time. Safe to use from several threads."""

    def __init__(self, folder: Path, reference: Reference) -> None:
        self._cache = RecordCache(folder)
        self._reference = reference

    def of(self, problem: Problem, plus: PlusTests) -> Expected:
        """The answers, except those that are too large to be judged, such as 5 of Mbpp/255's 109.

        Raises DataError if the canonical solution fails, inputs are not as published or no answer is plain data, and
        SandboxError.
        """
        parts = [EXPECTATIONS_VERSION, problem.canonical_solution, problem.public.entry_point, plus.inputs, plus.types]
        return self._cache.get(parts, Expected) or self._cache.put(parts, self._compute(problem, plus))

    def _compute(self, problem: Problem, plus: PlusTests) -> Expected:
        calls = _calls(problem, plus)
        if not calls:  # such as Mbpp/793
            return Expected("", "", ())
        answers = self._reference(problem, calls)
        every = zip(calls, answers.outputs, answers.seconds, strict=True)
        kept = [(call, output, seconds) for call, output, seconds in every if output is not None]
        if not kept:
            raise DataError(
                f"The plus tests of {problem.id} cannot be used: the canonical solution returns only values that "
                "koderz cannot compare with the values of other programs. Omit that problem."
            )
        calls, outputs, seconds = zip(*kept, strict=True)
        return Expected("\n".join(calls), "\n".join(outputs), seconds)


def _calls(problem: Problem, plus: PlusTests) -> Sequence[str]:
    try:
        return [json.dumps(encode(list(arguments)), separators=(",", ":")) for arguments in arguments_of(plus)]
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise DataError(
            f"The plus inputs of {problem.id} do not have the published format: {error}. Download the "
            "file of the dataset again."
        ) from error


_DECODING = threading.Lock()  # msgspec may crash if two threads use it for the same class for the first time


class RecordCache:
    """A folder of records, which may be removed at any time. Safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, parts: Sequence[object], kind: type[Record]) -> Record | None:
        """The record with these parts; None if there is none yet or its file is damaged."""
        try:
            content = self._path(parts).read_bytes()
            with _DECODING:
                return msgspec.json.decode(content, type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def put(self, parts: Sequence[object], record: Record) -> Record:
        """Write and return a record. If the disk is full, it is not written and will be computed again."""
        path = self._path(parts)
        part = path.with_suffix(".part")  # a fixed name: if two writers damage it, the record is computed again
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacement(path, part=part, private=False, durable=False) as file:
                file.write(msgspec.json.encode(record))
        return record

    def _path(self, parts: Sequence[object]) -> Path:
        return self._folder / f"{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()}.json"
