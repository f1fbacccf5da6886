"""Tests that are calls and right answers, made of Python values, and the same tests as asserts."""

import inspect
import json
from dataclasses import asdict, replace

from koderz_core.datasets.evalplus import NEED_ARGUMENTS, with_like
from koderz_core.records import Cases, TestSet
from koderz_core.sandbox.inside import literals
from koderz_core.sandbox.inside.cases import ready
from koderz_core.sandbox.inside.values import encode

FUTURE = "from __future__ import annotations\n"  # only the head of a file may


def as_asserts(tests: TestSet) -> TestSet:
    """The same for tests that are asserts already."""
    if not tests.cases:
        return tests
    asserts = "".join(f"    {source}\n" for source in ready(tests.source, **asdict(tests.cases)).sources)
    large = inspect.getsource(literals) if "Large(" in asserts else ""
    text = f"{large}\n{tests.source}".replace(FUTURE, "")
    return replace(tests, source=f"{FUTURE}{text}\ndef check(candidate):\n{asserts}", cases=None)


def cases(
    *pairs: tuple, tolerance: float = 0.0, oracle: str = "", seconds: float | None = None, limit: str = ""
) -> TestSet:
    """Each pair: the arguments of a call, and its right answer. ``limit``: the seconds of each test."""
    calls, answers = ("\n".join(json.dumps(encode(value)) for value in column) for column in zip(*pairs, strict=True))
    limits = "\n".join([limit] * len(pairs)) if limit else ""
    made = Cases(calls, answers, oracle == "some", oracle in NEED_ARGUMENTS, limits)
    return TestSet(with_like("", tolerance, oracle), seconds, cases=made)
