"""Whoever attacks the grader fails: no cheat passes, nothing outside is reached, and the next program is judged right.

Each attack must succeed where nothing defends. All are tried as the user that runs the tests; root tries those that
go beyond their own interpreter as an ordinary user too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attacks
import msgspec
import pytest
from attacks.cheating import CHEATS, serves, survives, twin_succeeds
from attacks.exercises import DOUBLE
from attacks.hosting import HOST_ATTACKS, gets, twin_gets
from attacks.judges import missing, open_judge, promises, unmet
from attacks.records import TIERS, Cheat, Host

import koderz_core
from koderz_core.sandbox.judge import BoxedJudge

NOBODY = 65534
VERSION = sys.version_info[:2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the attacks are written for Linux")


def named(attack: Cheat | Host) -> str:
    return attack.name


@pytest.fixture(scope="module", params=TIERS)
def judge(request: pytest.FixtureRequest) -> Iterator[BoxedJudge]:
    if why := missing(request.param):
        pytest.skip(why)
    opened = open_judge(request.param)
    yield opened
    opened.close()


def test_there_are_enough_attacks_and_no_two_have_the_same_name() -> None:
    names = [attack.name for attack in (*CHEATS, *HOST_ATTACKS)]
    assert len(CHEATS) >= 36
    assert len(HOST_ATTACKS) >= 36
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("cheat", CHEATS, ids=named)
def test_a_cheat_succeeds_where_nothing_defends(cheat: Cheat) -> None:
    if why := unmet(cheat.needs):
        pytest.skip(why)
    assert twin_succeeds(cheat)


@pytest.mark.parametrize("attack", HOST_ATTACKS, ids=named)
def test_a_host_attack_succeeds_where_nothing_defends(attack: Host) -> None:
    if why := unmet(attack.needs):
        pytest.skip(why)
    assert twin_gets(attack)


@pytest.mark.parametrize("cheat", CHEATS, ids=named)
def test_a_cheat_does_not_pass_and_does_not_reach_the_programs_after_it(cheat: Cheat, judge: BoxedJudge) -> None:
    if not promises(judge.isolation, cheat.holds_from):
        pytest.skip(f"{judge.isolation} does not promise that")
    assert survives(cheat, judge)


@pytest.mark.parametrize("attack", HOST_ATTACKS, ids=named)
def test_a_host_attack_gets_nothing_and_the_next_programs_are_judged_right(attack: Host, judge: BoxedJudge) -> None:
    got = gets(attack, judge)
    assert serves(judge, DOUBLE)
    if promises(judge.isolation, attack.holds_from):
        assert got == []


def test_a_judge_still_judges_right_after_all_of_them(judge: BoxedJudge) -> None:
    assert serves(judge, DOUBLE)


@pytest.fixture(scope="module")
def everybodys() -> Iterator[tuple[str, str]]:
    """An interpreter and a path of modules that an ordinary user can read, wherever root keeps its own."""
    python = shutil.which("python3", path=os.defpath)
    version = "import sys; print(*sys.version_info[:2])"
    if not python or subprocess.check_output([python, "-c", version], text=True).split() != [*map(str, VERSION)]:
        pytest.skip("no python3 of this version that an ordinary user may start")
    with tempfile.TemporaryDirectory(prefix="everybodys-") as folder:
        Path(folder).chmod(0o755)
        for package in (koderz_core, msgspec, attacks):
            shutil.copytree(Path(str(package.__file__)).parent, Path(folder, package.__name__))
        yield python, folder


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests above ran as an ordinary user")
@pytest.mark.parametrize("tier", ["", *TIERS])
def test_what_reaches_out_fails_for_an_ordinary_user_too(tier: str, everybodys: tuple[str, str]) -> None:
    python, folder = everybodys
    done = subprocess.run(
        [python, "-m", "attacks", *(["--tier", tier] if tier else [])],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        timeout=900,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if rows and "skipped" in rows[0]:
        pytest.skip(rows[0]["skipped"])
    assert [row for row in rows if not row["as_promised"]] == []
    assert len(rows) >= 30, done.stderr
