"""The study of koderz' own question, as an order: does a supervised cheap model match a frontier model?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from koderz_core.models.availability import Availability
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.presets import SONNET
from koderz_core.plan.registration import RegistrationOrder
from koderz_core.records import Budget, Scalar

DATASET, PROBLEMS = "mbpp+", "sample:310"
"""About 290 of these problems have examples. With 288, a benchmark of two equally good configurations shows a match
within 10 percentage points with a probability of 80 % (``analysis.power``)."""
FRONTIER = (SONNET, "openai/gpt-6.1-sol")
"""The default frontier models, in order of preference."""
GATE = "examples"
LOOP: Mapping[str, Scalar] = {"max_iterations": 5, "temperature": 0.8}
SUPERVISED: Mapping[str, Scalar] = {"max_iterations": 5, "checkpoint_interval": 2, "spec": False}
FRONTIER_CALLS = 3  # two reviews and one escalation
EXCLUSIONS = "none; experiments that end with an error are run again"


def study_order(coder: str, frontier: str, problems: str, max_usd: float, margin: float) -> Order:
    """The five configurations, in this order: supervised, frontier alone, cheap alone, many tries, escalation.

    The gate is the examples in the problem's text, so no loop sees the held-out tests. The primary comparison is that
    of the first two configurations. ``margin``: a share of the problems. On each problem, the frontier model is called
    at most ``FRONTIER_CALLS`` times beyond its own configuration.
    """
    configurations = (
        Wanted("supervised", {"coder": coder, "reviewer": frontier}, SUPERVISED, GATE),
        Wanted("direct", {"coder": frontier}),
        Wanted("direct", {"coder": coder}),
        Wanted("retry", {"coder": coder}, LOOP, GATE),
        Wanted("escalation", {"coder": [coder, frontier]}, gate=GATE),
    )
    registration = RegistrationOrder(("A", "B"), margin, exclusions=EXCLUSIONS)
    return Order(configurations, problems, budget=Budget(usd=max_usd), registration=registration)


def frontier_model(surveyed: Iterable[Availability]) -> str | None:
    """The first of ``FRONTIER`` that can be called now: always the same one, whatever a server lists. None: no one."""
    ready = {row.id for row in surveyed if row.ready}
    return next((model for model in FRONTIER if model in ready), None)
