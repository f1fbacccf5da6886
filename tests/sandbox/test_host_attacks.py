"""Nothing outside the sandbox is reached, and the programs after it are judged right; as the user of the tests."""

from __future__ import annotations

import sys

import pytest
from attacks.cheating import serves
from attacks.exercises import DOUBLE
from attacks.hosting import HOST_ATTACKS, gets
from attacks.judges import promises
from attacks.records import Host, named

from koderz_core.sandbox.judge import BoxedJudge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")


@pytest.mark.parametrize("attack", HOST_ATTACKS, ids=named)
def test_a_host_attack_gets_nothing_and_the_next_programs_are_judged_right(attack: Host, attacked: BoxedJudge) -> None:
    got = gets(attack, attacked)
    assert serves(attacked, DOUBLE)
    if promises(attacked.isolation, attack.holds_from):
        assert got == []


def test_a_judge_still_judges_right_after_all_attacks(attacked: BoxedJudge) -> None:
    assert serves(attacked, DOUBLE)
