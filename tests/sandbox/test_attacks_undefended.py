"""Each attack succeeds where nothing defends: else it would prove nothing that the grader stops it."""

from __future__ import annotations

import sys

import pytest
from attacks.cheating import CHEATS, twin_succeeds
from attacks.hosting import HOST_ATTACKS, twin_gets
from attacks.judges import unmet
from attacks.records import Cheat, Host, named
from sample import thinned

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")


def test_there_are_enough_attacks_and_no_two_have_the_same_name() -> None:
    names = [attack.name for attack in (*CHEATS, *HOST_ATTACKS)]
    assert len(CHEATS) >= 36
    assert len(HOST_ATTACKS) >= 36
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("cheat", thinned(CHEATS, "cheats where nothing defends"), ids=named)
def test_a_cheat_succeeds_where_nothing_defends(cheat: Cheat) -> None:
    if why := unmet(cheat.needs):
        pytest.skip(why)
    assert twin_succeeds(cheat)


@pytest.mark.parametrize("attack", thinned(HOST_ATTACKS, "host attacks where nothing defends"), ids=named)
def test_a_host_attack_succeeds_where_nothing_defends(attack: Host) -> None:
    if why := unmet(attack.needs):
        pytest.skip(why)
    assert twin_gets(attack)
