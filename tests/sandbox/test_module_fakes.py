"""No fake of a module passes, neither apart from its tests nor in their process; honest modules pass in both ways."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from attacks.fakes_of_tests import TEST_FAKES
from attacks.fakes_of_values import VALUE_FAKES
from attacks.judges import open_judge
from attacks.modules import HONEST, WRONG, Fake, fools, passes_unittest, passes_untwinned, problem
from sample import thinned

from koderz_core.sandbox.judge import BoxedJudge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fakes are written for Linux")
FAKES = TEST_FAKES + VALUE_FAKES


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    opened = open_judge("strong")
    yield opened
    opened.close()


def named(fake: Fake) -> str:
    return fake.name


def test_there_are_enough_fakes_and_no_two_have_the_same_name() -> None:
    assert len({fake.name for fake in FAKES}) == len(FAKES) >= 40


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
@pytest.mark.parametrize("fake", FAKES, ids=named)
def test_no_fake_passes(judge: BoxedJudge, fake: Fake, shared: bool) -> None:
    tried = problem(shared=shared)
    verdict = judge.check(tried, fake.code, tried.tests)
    assert not verdict.passed
    assert verdict.shared is shared or verdict.marks == "-" * len(verdict.marks)


@pytest.mark.parametrize("fake", thinned([fake for fake in FAKES if fake.fooled != "nothing"], "fakes"), ids=named)
def test_a_fake_passes_where_nothing_defends(judge: BoxedJudge, fake: Fake) -> None:
    assert fools(fake, judge)


@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_an_honest_module_passes_and_a_wrong_one_does_not(judge: BoxedJudge, shared: bool) -> None:
    tried = problem(shared=shared)
    assert judge.check(tried, HONEST, tried.tests).passed
    assert not judge.check(tried, WRONG, tried.tests).passed
    assert passes_unittest(HONEST)
    assert passes_untwinned(HONEST, judge)
