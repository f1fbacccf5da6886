"""Nothing outside the sandbox is reached, and the programs after it are judged right; as the user of the tests."""

from __future__ import annotations

import sys

import pytest
from attacks.cheating import serves
from attacks.exercises import DOUBLE
from attacks.hosting import HOST_ATTACKS, gets
from attacks.judges import promises
from attacks.records import TIERS, Host, named
from sample import thinned

from koderz_core.sandbox.judge import BoxedJudge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")


PAIRS = [(tier, attack) for tier in TIERS for attack in HOST_ATTACKS]
WEAKEST = [(attack.holds_from, attack) for attack in HOST_ATTACKS]  # tiers that promise to stop it


@pytest.mark.parametrize(
    ("attacked", "attack"),
    thinned(PAIRS, "host attacks in another tier than the weakest that stops them", always=WEAKEST),
    indirect=["attacked"],
    ids=named,
)
def test_a_host_attack_gets_nothing_and_the_next_programs_are_judged_right(attack: Host, attacked: BoxedJudge) -> None:
    got = gets(attack, attacked)
    assert serves(attacked, DOUBLE)
    if promises(attacked.isolation, attack.holds_from):
        assert got == []


def test_a_judge_still_judges_right_after_all_attacks(attacked: BoxedJudge) -> None:
    assert serves(attacked, DOUBLE)
