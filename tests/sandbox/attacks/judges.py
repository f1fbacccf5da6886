"""The judges that attacks are tried on, one for each tier that holds on this machine."""

from __future__ import annotations

import os
import platform
import shutil
from functools import cache

from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.tiers import probe

from .records import TIERS, Tier

TIMEOUT_SECONDS = 2.0


def open_judge(tier: Tier) -> BoxedJudge:
    """A judge with one worker, so that what an attack leaves behind meets the very next program."""
    return BoxedJudge(tier, shutil.which("bwrap"), timeout_seconds=TIMEOUT_SECONDS, workers=1)


@cache
def missing(tier: Tier) -> str:
    """Why this tier cannot be tried here; empty if it can."""
    return next(standing.reason for standing in probe(shutil.which("bwrap")) if standing.isolation == tier)


def unmet(needs: str) -> str:
    """What an attack needs that is not so here, for the twin cannot succeed then; empty if all is there."""
    met = {
        "": True,
        "root": os.geteuid() == 0,
        "x86_64": platform.machine() == "x86_64",
        "python<3.13": platform.python_version_tuple() < ("3", "13"),
        "two cores": len(os.sched_getaffinity(0)) > 1,
    }
    return "" if met[needs] else f"needs {needs}"


def promises(tier: Tier, holds_from: Tier) -> bool:
    """Whether a tier promises to stop an attack that is stopped from ``holds_from`` on."""
    return TIERS.index(tier) >= TIERS.index(holds_from)
