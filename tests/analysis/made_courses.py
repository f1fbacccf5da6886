"""Trials with their tries, written as marks, a character for each try."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from made_trials import trials
from msgspec.structs import replace

from koderz_core.records.trials import Trial, Try


def course(
    problem: str,
    marks: str,
    *,
    usd: float | None = 1.0,
    repeat: int = 0,
    codes: Sequence[str] = (),
    passed: Sequence[int] = (),
) -> Trial:
    """Tries that fail the gate (x), pass it alone (f) or the held-out tests too (s); ``|`` is a checkpoint.

    A last ``c`` or ``e`` cancels the trial or ends it in error. Each try takes 2 seconds, 7 tokens, 5 joules and
    ``usd``, and passes ``passed`` of its 4 tests. ``codes`` name the programs.
    """
    without_result = marks[-1] if marks[-1] in "ce" else ""
    steps = marks.removesuffix(without_result)
    reviews = [steps[: place + 1].count("|") for place, mark in enumerate(steps) if mark != "|"]
    made = steps.replace("|", "")
    held = tuple(
        Try(
            iteration=place,
            code=codes[place - 1] if codes else f"{problem}/{repeat}/{place}",
            gate_passed=mark in "fs",
            tests_passed=4 if mark in "fs" else passed[place - 1] if passed else 1,
            tests_total=4,
            error=None if mark in "fs" else "assertion",
            held_out_passed=mark == "s",
            usd=None if usd is None else usd * place,
            seconds=2.0 * place,
            checkpoints=checkpoints,
            tokens=7 * place,
            joules=5.0 * place,
        )
        for place, mark, checkpoints in zip(accumulate(1 for _ in made), made, reviews, strict=True)
    )
    (empty,) = trials("a", {problem: without_result or ("1" if made.endswith("s") else "0")})
    passes = made[-1:] in ("f", "s")
    return replace(
        empty,
        repeat=repeat,
        reason=None if without_result else "gate" if passes else "iterations",
        gate_passed=None if without_result else passes,
        code=held[-1].code if held and not without_result else None,
        iterations=len(made),
        usd=None if usd is None else usd * len(made),
        seconds=2.0 * len(made),
        tokens=7 * len(made),
        joules=5.0 * len(made),
        tries=held,
    )


def answers(solved: Sequence[object], usd: Sequence[float | None] | float | None = 1.0) -> list[Trial]:
    """One untested answer to each of as many problems, right where there is truth."""
    prices = usd if isinstance(usd, Sequence) else [usd] * len(solved)
    made = trials("b", {f"p/{place}": "1" if item else "0" for place, item in enumerate(solved)})
    return [
        replace(item, reason="iterations", usd=price, seconds=3.0) for item, price in zip(made, prices, strict=True)
    ]
