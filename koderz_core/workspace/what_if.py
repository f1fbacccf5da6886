"""What other policies would have solved and cost, from recorded attempts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from koderz_core.analysis.draws import About, recorded_attempts, sources_of
from koderz_core.analysis.policies import EXAMPLES, gates_of, policies
from koderz_core.analysis.tuning import FOLDS, Tuned, tune
from koderz_core.analysis.what_if import Replayed, Simulated, difference, simulate
from koderz_core.errors import UsageError
from koderz_core.plan.strategy_files import facts_for_results
from koderz_core.records.attempts import Mixture, Policy, RecordedAttempt, Source
from koderz_core.records.plans import natural
from koderz_core.records.progress import SummaryRow
from koderz_core.workspace.comparisons import Comparisons, Key
from koderz_core.workspace.names import letter
from koderz_core.workspace.registrations import untested_pairs

__all__ = ["EXAMPLES", "FOLDS", "Replayed", "Simulated", "Sources", "Tuned", "WhatIfs", "difference"]


@dataclass(frozen=True, slots=True)
class Sources:
    """The recorded attempts of configurations. ``problems``: all that were given to one of them, in natural order.

    ``sources``: by name. ``aliases``: the letters of configurations, and the ids of those in only one of the
    benchmarks, each with the name of its source. ``untested``: as ``untested_pairs`` returns it.
    """

    rows: tuple[SummaryRow, ...]
    attempts: tuple[RecordedAttempt, ...]
    sources: Mapping[str, Source]
    aliases: Mapping[str, str]
    problems: tuple[str, ...]
    untested: tuple[tuple[Key, Key], ...]

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates whose marks are recorded."""
        return gates_of(list(self.sources.values()))

    def recorded(self, benchmark: str, configuration: str) -> str | None:
        """Return the name of a configuration's source; None if it has no attempt."""
        own = ((benchmark, configuration),)
        found = (name for name, source in self.sources.items() if source.recorded and source.configurations == own)
        return next(found, None)


@dataclass(frozen=True)
class WhatIfs:
    """Replays policies on the current content of the store. Every method may raise StoreError."""

    comparisons: Comparisons

    def sources(self, rows: Sequence[SummaryRow]) -> Sources:
        """Return the attempts of configurations. Those of experiments without a result are omitted."""
        trials = self.comparisons.trials_of_each(rows)
        about = {row.key: self._about(row) for row in rows}
        calls = self.comparisons.results.coder_calls(sorted({row.benchmark for row in rows}))
        attempts = recorded_attempts(trials, calls, about)
        if not attempts:
            raise UsageError(
                "No problem has a result yet, so there is nothing to replay. To list all benchmarks, run: "
                "koderz results"
            )
        found = sources_of(attempts, trials, about)
        named = {source.configurations[0]: source.name for source in found.values() if source.recorded}
        letters = {letter(place): row.key for place, row in enumerate(rows)}
        ids = {row.configuration: row.key for row in rows}
        several = Counter(row.configuration for row in rows)  # the same configuration in several benchmarks
        keys = letters | {name: key for name, key in ids.items() if several[name] == 1}
        aliases = {name: named[key] for name, key in keys.items() if key in named}
        problems = {problem for source in found.values() for problem in source.problems}
        untested = untested_pairs(self.comparisons.results, rows)
        return Sources(tuple(rows), attempts, found, aliases, tuple(sorted(problems, key=natural)), untested)

    def policies(self, text: str, of: Sources) -> list[Policy | Mixture]:
        """Return the policies that a text names. Raises UsageError, UnknownNameError."""
        return policies(text, of.sources, of.aliases)

    def simulate(self, policy: Policy | Mixture, of: Sources, wrong_usd: float = 0.0) -> Simulated:
        """Return what a policy would have done. Raises UsageError if the recorded attempts do not determine it."""
        found = simulate(policy, of.sources, of.problems, wrong_usd)
        both = [pair for a, b in of.untested for pair in ((a, b), (b, a))]
        return replace(found, untested=frozenset(other for key, other in both if key in found.keys))

    def tune(self, found: Sequence[Simulated], folds: int = FOLDS) -> Tuned:
        """Return the best of several simulated policies, judged on folds that did not choose it. Raises UsageError."""
        return tune(found, folds)

    def _about(self, row: SummaryRow) -> About:
        coders = row.models.get("coder", ())
        facts = facts_for_results(row.strategy, self.comparisons.settings)
        once = row.parameters.get("max_iterations") == 1  # then no result decides whether a further program is written
        fixed = facts.independent_samples or not facts.tests_programs or once
        return About(row.label, row.strategy, row.gate, coders[0] if len(coders) == 1 else "", fixed)
