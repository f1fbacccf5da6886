"""What a plan can show: how large a difference must be to be seen with so many problems, told before any is spent."""

from __future__ import annotations

from functools import cache
from math import inf, log, log1p
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

DISCORDANT = 0.12
"""Share of problems that one of two configurations solves and the other does not. An assumption: two coding models of
like strength typically differ on 8 to 20 of HumanEval's 164 problems, and this is the upper end."""

LUCK = 0.5
"""Share of the variance of a problem's difference that repeats average out. Wang, "Measuring all the noises of LLM
evals", arXiv 2512.21326 (2025): typically more than half. Models that answer alike each time have none."""

_NEGLIGIBLE = 1e-12


def power(n: int, difference: float, alpha: float = 0.05, discordant: float = DISCORDANT, repeats: int = 1) -> float:
    """The chance that the exact McNemar test on n problems is at most ``alpha`` if the true difference is this one.

    ``difference`` and ``discordant`` are shares of problems; a difference above ``discordant`` makes that as large: the
    better one then wins every problem on which they differ, so this is the most that can be hoped for. All outcomes are
    summed: the number of discordant problems is binomial and, given it, so is that of the better one's (Miettinen,
    Biometrics 24 (1968) 339-352). ``repeats`` count as so many more problems as they lessen the variance by (``LUCK``).
    """
    return _chance(_worth(n, repeats), difference, alpha, discordant)


def detectable(
    n: int, power: float = 0.8, alpha: float = 0.05, discordant: float = DISCORDANT, repeats: int = 1
) -> float:
    """The smallest true difference, a share of problems, seen with this ``power``; inf if not even 1 would be."""
    assert 0 < power < 1, f"power {power}"
    worth = _worth(n, repeats)
    if _chance(worth, 1.0, alpha, discordant) < power:
        return inf
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        enough = _chance(worth, middle, alpha, discordant) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


@cache
def can_show(n: int, repeats: int = 1, configurations: int = 2) -> str:
    """What n problems can show, in a sentence for who is about to launch.

    With more than two ``configurations`` each is held against one of them, and told apart by the strictest step that
    Holm's adjustment may take: alpha divided by how many such pairs there are.
    """
    pairs = max(1, configurations - 1)
    alpha = 0.05 / pairs
    plan = f"With {n} problem{'s' if n != 1 else ''}{f', {repeats} times each,' if repeats > 1 else ''}"
    even = detectable(n, power=0.5, alpha=alpha, repeats=repeats)
    if even == inf:
        return f"{plan} no difference, however large, can be told from luck."
    sure = detectable(n, power=0.8, alpha=alpha, repeats=repeats)
    unseen = f"a difference below {100 * even:.2g} points will usually go unnoticed"
    all_of_them = f" ({pairs} configurations against one)" if pairs > 1 else ""
    return f"{plan} {unseen}; one of {100 * sure:.2g} points is seen four times in five{all_of_them}."


def _worth(n: int, repeats: int) -> int:
    assert n >= 0, f"{n} problems"
    assert repeats >= 1, f"{repeats} repeats"
    return round(n / (1 - LUCK + LUCK / repeats))


def _chance(n: int, difference: float, alpha: float, discordant: float) -> float:
    assert 0 < discordant <= 1, f"a discordant share of {discordant}"
    assert -1 <= difference <= 1, f"a difference of {difference}"
    assert 0 < alpha < 1, f"alpha {alpha}"
    share = max(discordant, abs(difference))
    wins = (share + abs(difference)) / 2 / share
    likely = [(number, float(chance)) for number, chance in enumerate(_binomial(n, share)) if chance > _NEGLIGIBLE]
    return sum(chance * _rejected(number, wins, alpha) for number, chance in likely)


def _rejected(n: int, wins: float, alpha: float) -> float:
    """The chance that n discordant problems, each the better one's with chance ``wins``, tell the two apart."""
    most = _critical(n, alpha)
    if most < 0:
        return 0.0
    chances = _binomial(n, wins)
    return float(chances[: most + 1].sum() + chances[n - most :].sum())


@cache
def _critical(n: int, alpha: float) -> int:
    """The most of n discordant problems that the worse one may have for p to be at most ``alpha``; -1: not even 0."""
    most, ways, tail = -1, 1, 1
    while 2 * tail / 2**n <= alpha:
        most += 1
        ways = ways * (n - most) // (most + 1)
        tail += ways
    return most


def _binomial(n: int, p: float) -> NDArray[float64]:
    """The chance of each number of successes, 0 to n."""
    import numpy as np  # noqa: PLC0415 (slow, and few commands need it)

    k = np.arange(n + 1)
    if p in (0.0, 1.0):
        return np.where(k == n * p, 1.0, 0.0)
    factorials = np.concatenate(([0.0], np.log(k[1:]).cumsum()))
    chances: NDArray[float64] = np.exp(factorials[n] - factorials - factorials[::-1] + k * log(p) + (n - k) * log1p(-p))
    return chances
