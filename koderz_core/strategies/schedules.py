"""Temperatures written as text, one per attempt: ``0,0.3*2,0.5*2`` is 0, then 0.3 twice, then 0.5 twice."""

from __future__ import annotations

import re
from itertools import groupby

from koderz_core.errors import PlanError

HOTTEST = 2.0  # the highest that any provider takes
MOST = 1000
_STEP = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:\*(\d{1,4}))?", re.ASCII)


def temperatures(text: str) -> tuple[float, ...]:
    """One per attempt, none for an empty text. Raises PlanError, which names the step that is none."""
    found: list[float] = []
    for step in text.split(",") if text.strip() else ():
        read = _STEP.fullmatch(step.strip())
        temperature, times = (float(read[1]), int(read[2] or 1)) if read else (0.0, 0)
        if not times or temperature > HOTTEST:
            raise PlanError(
                f"{step.strip()!r} in {text!r} is no step: write temperatures from 0 to {HOTTEST:g} with commas "
                "between them, and how many attempts where there are several, as in 0,0.3*2,0.5*2."
            )
        found += [temperature] * times
    if len(found) > MOST:
        raise PlanError(f"{text!r} are {len(found)} steps: write at most {MOST}.")
    return tuple(found)


def written(steps: tuple[float, ...]) -> str:
    """The one text that stands for these temperatures, however they were written."""
    counted = ((temperature, len(list(same))) for temperature, same in groupby(steps))
    return ",".join(f"{temperature:g}" + (f"*{times}" if times > 1 else "") for temperature, times in counted)
