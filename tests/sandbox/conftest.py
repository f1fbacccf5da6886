"""Judges of the tiers under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attacks.judges import missing, open_judge
from small_problem import BEST, BWRAP, JUDGES, best_tier, tiers

from koderz_core.records import Isolation
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.tiers import TIERS


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Isolation:
    """Each tier that holds here, unless a file names others; what ``judged`` uses."""
    name: Isolation = best_tier() if request.param == BEST else request.param
    if reason := tiers()[name]:
        pytest.skip(f"tier {name} does not hold here: {reason}")
    monkeypatch.setenv("TIER_UNDER_TEST", name)
    return name


@pytest.fixture
def quick(tier: Isolation) -> Iterator[BoxedJudge]:
    """A judge that stops a program after half a second."""
    judge = BoxedJudge(tier, BWRAP, timeout_seconds=0.5)
    yield judge
    judge.close()


@pytest.fixture(scope="module", params=TIERS)
def attacked(request: pytest.FixtureRequest) -> Iterator[BoxedJudge]:
    """One judge with one worker for all attacks of a file, so that each meets what those before it left behind."""
    if why := missing(request.param):
        pytest.skip(why)
    judge = open_judge(request.param)
    yield judge
    judge.close()


@pytest.fixture(scope="session", autouse=True)
def _closed_judges() -> Iterator[None]:
    yield
    for judge in JUDGES:
        judge.close()
