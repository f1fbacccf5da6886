"""No attack on the judge of repositories passes, and correct patches pass after them; each fools a plain run."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from attacks.repositories import GIT, RepositoryAttack, plain
from attacks.repository_corpus import ATTACKS, LIMIT, written
from attacks.small_repository import small_task
from sample import only_whole, thinned

from koderz_core.records import TestSet
from koderz_core.sandbox.repository.judge import RepositoryJudge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")
TASK = small_task()
TWINS = [attack for attack in ATTACKS if attack.twins]
LEAST = 25
WITH_NAMES = ("cachetools", "more_itertools", "sqlparse", "tinydb", "voluptuous")


@pytest.fixture(scope="module")
def judge() -> Iterator[RepositoryJudge]:
    opened = RepositoryJudge("strong", shutil.which("bwrap"), workers=2)
    yield opened
    opened.close()


def named(attack: RepositoryAttack) -> str:
    return attack.name


def test_there_are_enough_attacks_with_different_names() -> None:
    assert len({attack.name for attack in (*ATTACKS, LIMIT)}) == len(ATTACKS) + 1 > LEAST
    assert len(TWINS) >= 5


@pytest.mark.parametrize("attack", thinned(ATTACKS, "attacks on the judge of repositories", always=TWINS), ids=named)
def test_no_attack_passes(judge: RepositoryJudge, attack: RepositoryAttack) -> None:
    assert not judge.check(TASK, attack.make(TASK), TASK.tests).passed


def test_an_exception_must_have_the_classes_of_that_of_the_correct_program(judge: RepositoryJudge) -> None:
    assert TASK.repository
    only = tuple(test for test in TASK.repository.failing if test.endswith("test_too_wide"))
    tests = TestSet("", ids=(*only, *TASK.repository.passing))
    task = replace(TASK, tests=tests, repository=replace(TASK.repository, failing=only))
    every_kind = next(attack for attack in ATTACKS if attack.name == "exceptions of every kind")
    assert judge.check(task, task.canonical_solution, tests).passed
    assert not judge.check(task, every_kind.make(task), tests).passed


def test_a_correct_patch_passes_after_them_and_an_empty_one_does_not(judge: RepositoryJudge) -> None:
    assert judge.check(TASK, TASK.canonical_solution, TASK.tests).passed
    empty = judge.check(TASK, "", TASK.tests)
    assert {TASK.tests.ids[place] for place, mark in enumerate(empty.marks) if mark != "P"} == set(
        TASK.repository.failing if TASK.repository else ()
    )


@pytest.mark.skipif(not GIT, reason="git is not installed")
@only_whole("attacks with pytest alone")
@pytest.mark.parametrize("attack", ATTACKS, ids=named)
def test_an_attack_fools_a_plain_run(attack: RepositoryAttack) -> None:
    assert plain(TASK, attack.make(TASK)).solves(TASK)


def test_a_plain_run_tells_the_correct_patch_from_the_empty_one() -> None:
    assert plain(TASK, TASK.canonical_solution).solves(TASK) == "exit code and lines"
    assert not plain(TASK, "").solves(TASK)


def test_each_package_has_six_correct_implementations_by_hand() -> None:
    packages = Counter(entry.tree.rpartition("-")[0] for entry in written())
    assert packages == dict.fromkeys((*WITH_NAMES, "schema"), 6)
