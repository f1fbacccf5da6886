"""No fake program is accepted over HTTP, with tests that the client sends or with those of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import test_fake_success as tricks
from attacks.cheating import CHEATS
from attacks.fakes_of_tests import TEST_FAKES
from attacks.fakes_of_values import VALUE_FAKES
from attacks.modules import HONEST, problem
from sample import thinned
from served import Served, serving
from small_problem import DOUBLING

from koderz_core import open_workspace
from koderz_core.errors import UnknownNameError
from koderz_core.records import Dataset, DatasetOrigin
from koderz_core.sandbox import selftest_programs

MODULES = {"apart": problem(shared=False), "shared": problem(shared=True)}
SECONDS = 2


class Stacks:
    """The two datasets of this file, each with one module."""

    def names(self) -> tuple[str, ...]:
        return tuple(MODULES)

    def load(self, name: str) -> Dataset:
        if name not in MODULES:
            raise UnknownNameError("dataset", name, MODULES)
        return Dataset(DatasetOrigin(name, "", ""), (MODULES[name],))


@dataclass(frozen=True)
class Trick:
    """A program that does not solve its task, and the tests that it wants to pass."""

    name: str
    code: str
    tests: str


def own(code: str, tests: str, entry_point: str, name: str) -> Trick:
    return Trick(name, code, f"{tests}\n\ncheck({entry_point})\n")


def all_tricks() -> Iterator[Trick]:
    for each in (*selftest_programs.WRONG, *selftest_programs.CHEATS):
        tried = selftest_programs.PROBLEMS[each.problem]
        yield own(each.code, tried.tests.source, tried.public.entry_point, f"self-test: {each.name}")
    for name, code in (tricks.FOOLS_AN_EXIT_CODE | tricks.CAUGHT_BY_MOST).items():
        yield own(code if "double" in code else code + tricks.WRONG, DOUBLING, "double", f"trick: {name}")
    for cheat in CHEATS:
        if cheat.aim == "pass":
            code, exercise = f"LEFT, SPARED = 'left', []\n{cheat.code}", cheat.exercise
            yield own(code, exercise.tests, exercise.entry_point, f"cheat: {cheat.name}")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    workspace = open_workspace(home=Path(tmp_path_factory.mktemp("fakes")))
    vars(workspace)["datasets"] = Stacks()
    with serving(workspace) as found:
        yield found


def test_no_fake_of_a_function_is_accepted(served: Served) -> None:
    tried = thinned(list(all_tricks()), "fakes over HTTP")
    results = served.grade(
        *({"id": trick.name, "solution": trick.code, "tests": trick.tests, "seconds": SECONDS} for trick in tried)
    )
    assert [result["id"] for result in results] == [trick.name for trick in tried]
    assert [result for result in results if result["passed"] is not False] == []


@pytest.mark.parametrize("way", MODULES)
def test_no_fake_of_a_module_is_accepted_and_an_honest_one_is(served: Served, way: str) -> None:
    tried = thinned(TEST_FAKES + VALUE_FAKES, "fakes of modules over HTTP")
    asked = {"dataset": way, "problem": "stack/1"}
    results = served.grade(*({"id": fake.name, "solution": fake.code, **asked} for fake in tried))
    assert [result for result in results if result["passed"] is not False] == []
    assert served.grade({"solution": HONEST, **asked})[0]["passed"] is True


SPOIL = """
import sys
def check(candidate):
    named = {name.rpartition(".")[2]: module for name, module in sys.modules.items()}
    passed = named["recorder"].Outcome("P", (), None, "", (0.0,))
    report = named["trial"].Report(passed, True, 0.0, False)
    named["serving"].judge = lambda *_: report
    assert candidate() == 1

check(f)
"""
WRONG = {"solution": "def f(): return 0", "tests": "assert f() == 1"}


def test_tests_that_spoil_their_worker_do_not_reach_the_programs_of_another_client(served: Served) -> None:
    spoiled = {"solution": "def f(): return 1", "tests": SPOIL}

    def passed(client: str, program: dict[str, str]) -> list[bool]:
        answer = served.post("/v1/grade", {"programs": [program] * 8}, **{"X-Koderz-Client": client})
        return [result["passed"] for result in answer.json["results"]]

    assert any(passed("hostile", spoiled))
    assert any(passed("hostile", WRONG))  # it harms only itself
    assert not any(passed("careful", WRONG))
