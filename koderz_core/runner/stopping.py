"""The stopping rule of a sequential benchmark while it runs: once it is decided, no further experiment starts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from koderz_core.events import BenchmarkDecided
from koderz_core.records import Outcome, Plan

Rule = Callable[[Mapping[str, Outcome]], BenchmarkDecided | None]
"""Maps the outcomes of the experiments so far, by id, to the decision; None: there is none yet."""
MakeRule = Callable[[Plan], Rule | None]
"""Returns the rule of a plan; None for a plan that runs to its end."""


class Stopping:
    """Follows the outcomes of a benchmark until they decide it. May be used from any thread.

    ``decided``: the decision, which is final. ``unrecorded``: the same if no journal has it: a process may end between
    the last outcome and the decision, and a repair removes the decision.
    """

    def __init__(
        self, rule: Rule | None, before: Mapping[str, Outcome], decided: BenchmarkDecided | None = None
    ) -> None:
        """``before``: the outcomes of experiments that have ended already; ``decided``: the recorded decision."""
        self._rule = rule
        self._outcomes = dict(before) if rule else {}
        self._guard = threading.Lock()  # guards both
        self.decided = decided or (rule(self._outcomes) if rule else None)
        self.unrecorded = None if decided else self.decided

    def add(self, experiment: str, outcome: Outcome) -> BenchmarkDecided | None:
        """Add an outcome. Returns the decision, if this outcome makes it."""
        if self._rule is None:
            return None
        with self._guard:
            self._outcomes[experiment] = outcome
            if self.decided is None:
                self.decided = self._rule(self._outcomes)
                return self.decided
        return None
