"""Several intervals that are looked at together, of which the best looking one is picked."""

from __future__ import annotations


def simultaneous(at_once: int) -> float:
    """Up to which quantile an interval of 95 % reaches that is one of so many, all of which are to hold together.

    Bonferroni's division of the 5 %, whatever the intervals have to do with each other: Dunn, "Multiple Comparisons
    Among Means", JASA 56 (1961) 52-64. So none of them claims too much because it was picked out for looking best.
    """
    return 1 - 0.025 / at_once
