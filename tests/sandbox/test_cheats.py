"""No cheat passes, and the programs after it are judged right; tried as the user that runs the tests."""

from __future__ import annotations

import sys

import pytest
from attacks.cheating import CHEATS, serves, survives
from attacks.exercises import DOUBLE
from attacks.judges import promises
from attacks.records import TIERS, Cheat, named
from sample import thinned

from koderz_core.sandbox.judge import BoxedJudge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")


PAIRS = [(tier, cheat) for tier in TIERS for cheat in CHEATS if promises(tier, cheat.holds_from)]
WEAKEST = [(cheat.holds_from, cheat) for cheat in CHEATS]  # tiers that promise to catch it, with the fewest walls


@pytest.mark.parametrize(
    ("attacked", "cheat"),
    thinned(PAIRS, "cheats in a stronger tier than the weakest that catches them", always=WEAKEST),
    indirect=["attacked"],
    ids=named,
)
def test_a_cheat_does_not_pass_and_does_not_reach_the_programs_after_it(cheat: Cheat, attacked: BoxedJudge) -> None:
    assert survives(cheat, attacked)


def test_a_judge_still_judges_right_after_all_cheats(attacked: BoxedJudge) -> None:
    assert serves(attacked, DOUBLE)
