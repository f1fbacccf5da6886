"""Runs rewritten tests in this process, as the sandbox runs them with pytest, and judges what they report."""

import random
import unittest
from collections.abc import Iterator, Mapping

import pytest

from koderz_core.sandbox.inside import observe
from koderz_core.sandbox.repository.instrument import Instrumented, instrument
from koderz_core.sandbox.repository.profiles import profile_of
from koderz_core.sandbox.repository.reports import Reports, TestReport
from koderz_core.sandbox.repository.verdicts import Marked, Profile, marks

PATH = "tests/test_it.py"
HEAD = "import pytest\nimport unittest\n"


class Suite:
    """Tests, with the profile of a correct program."""

    def __init__(self, source: str, correct: str) -> None:
        self.files = {PATH: HEAD + source}
        self.correct = correct
        self.ids = [name for name, _ in tests_in(namespace(self.files[PATH], correct))]
        run = lambda changed: reports(changed.get(PATH, self.files[PATH]), correct)  # noqa: E731
        self.profile: Profile = profile_of(self.files, self.ids, run, random.Random(1))

    def made(self, seed: int = 2, *, twins: bool = True) -> Instrumented:
        twinned = [test for test in self.ids if test not in self.profile.single] if twins else []
        return instrument(self.files, self.ids, random.Random(seed), self.profile.plain, twinned, self.profile.opaque)

    def text(self, seed: int = 2, *, twins: bool = False) -> str:
        return self.made(seed, twins=twins).files.get(PATH, self.files[PATH])

    def judge(self, program: str, seed: int = 2, *, twins: bool = True) -> Marked:
        made = self.made(seed, twins=twins)
        found = reports(made.files.get(PATH, self.files[PATH]), program)
        return marks(made.key, found, self.profile, self.ids)


def test_of(*lines: str) -> str:
    return "def test_it():\n" + "".join(f"    {line}\n" for line in lines)


test_of.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test


def namespace(source: str, program: str) -> dict[str, object]:
    observe.install(lambda record: None)
    names: dict[str, object] = {"__name__": "tests.test_it"}
    exec(compile(program, "program.py", "exec"), names)
    exec(compile(source, PATH, "exec"), names)
    return names


def tests_in(names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, found in list(names.items()):
        if name.startswith("test") and callable(found):
            yield f"{PATH}::{name}", found
        elif isinstance(found, type) and issubclass(found, unittest.TestCase):
            for method in unittest.TestLoader().getTestCaseNames(found):
                yield f"{PATH}::{name}::{method}", getattr(found(method), method)


def reported(outcome: str, records: list[object], message: str = "") -> TestReport:
    return TestReport([("call", outcome), ("teardown", "passed")], records, message=message)


def reports(source: str, program: str) -> Reports:
    found: dict[str, TestReport] = {}
    for name, test in tests_in(namespace(source, program)):
        records: list[object] = []
        observe.install(records.append)
        outcome, message = "passed", ""
        try:
            test()  # type: ignore[operator]  # a function
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (whatever a test raises)
            outcome, message = "failed", repr(error)
        found[name] = reported(outcome, records, message)
    return found
