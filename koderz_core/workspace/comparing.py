"""Configurations side by side, as people name them: by benchmark, by id, by label or by letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from koderz_core.analysis.configurations import frontier_asked_once, letter, usual_baseline
from koderz_core.analysis.difficulty import Difficulty, difficulties
from koderz_core.conditions import HELD_OUT, TIME_LIMIT
from koderz_core.errors import UsageError
from koderz_core.prompts.programs import shape
from koderz_core.records import Plan, Scalar
from koderz_core.records.plans import scripted
from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Trial
from koderz_core.report.forecasts import can_show
from koderz_core.store.results import Results
from koderz_core.workspace.baselines import Baselines, given
from koderz_core.workspace.names import configuration_named, configurations_named

if TYPE_CHECKING:
    from koderz_core.analysis.attempts import AttemptByAttempt
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.incidence import Axis
    from koderz_core.analysis.supervision import Supervision


class Comparing:
    """Answers from what is in the store now. Every question may raise StoreError."""

    def __init__(self, results: Results, baselines: Baselines) -> None:
        self._results = results
        self._baselines = baselines

    def named(self, wanted: Sequence[str], *, same_problems: bool = False) -> list[SummaryRow]:
        """The configurations that these words name, each once, in their order.

        A word is a benchmark (its id, a beginning of it, or its name), ``benchmark/configuration``, or a configuration
        alone where only one benchmark has it. A configuration is named by its id, a beginning of that, its label, or
        the letter that ``koderz compare`` gives it in its benchmark. ``same_problems``: as ``on_shared_problems`` has
        them. Raises UnknownNameError, UsageError.
        """
        benchmarks = self._results.benchmarks()
        if not wanted:
            wanted = [benchmarks[0].id] if benchmarks else []
        found = [row for word in wanted for row in configurations_named(self._results, word, benchmarks)]
        rows = list({_key(row): row for row in found}.values())
        return self.on_shared_problems(rows) if same_problems else rows

    def compare(
        self,
        rows: Sequence[SummaryRow],
        baseline: str | None = None,
        axes: Sequence[Axis] | None = None,
        *,
        apart: bool = False,
    ) -> Comparison:
        """These configurations, held against ``baseline``, one of them by its letter or as in ``named``; None: chosen.

        ``axes``: of which curves are wanted, None for all. ``apart``: from a copy of the store, so that nobody waits
        while half a million tries are read. Raises UnknownNameError, UsageError.
        """
        from koderz_core.analysis.comparison import AXES, compare  # noqa: PLC0415 (numpy, which no run needs)
        from koderz_core.report.findings import with_sentences  # noqa: PLC0415 (as above)

        chosen = None if baseline is None else configuration_named(baseline, rows)
        numbers = compare(rows, self._trials(rows, apart=apart), chosen, AXES if axes is None else axes)
        found = with_sentences(numbers, rows)
        return replace(
            found,
            findings=(*found.findings, *self._about_the_baseline(found, rows)),
            remarks=(*found.remarks, *self._about_grounds(rows)),
        )

    def against_frontier(self, rows: Sequence[SummaryRow]) -> Comparison | None:
        """These held against the frontier model that was asked directly on their problems, without curves.

        Of several the one that ``usual_baseline`` takes; None if there is none.
        """
        found = self.with_baseline(rows)
        asked_once = frontier_asked_once(found)
        base = usual_baseline(asked_once)
        return None if base is None else self.compare(found, letter(found.index(base)), ())

    def can_show(self, plan: Plan) -> str:
        """How large a difference between its configurations a plan can show, in sentences."""
        return can_show(plan, self._results.past_pairs(plan.dataset.sha256, scripted=scripted(plan.models())))

    def with_baseline(self, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
        """These and, if no frontier model among them was asked directly, what one did that was, on their problems."""
        beside = self._baselines.beside(rows)
        return [*rows, beside] if beside else list(rows)

    def shared_problems(self, rows: Sequence[SummaryRow]) -> tuple[str, ...]:
        """The problems that each of these configurations was given; none where they are of different datasets."""
        if len({row.dataset_sha256 for row in rows}) != 1:
            return ()
        grounds = self._results.grounds(sorted({row.benchmark for row in rows}))
        return tuple(sorted(frozenset.intersection(*given(rows, grounds))))

    def on_shared_problems(self, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
        """The same configurations, about nothing but the problems that each of them was given. Raises UsageError."""
        if len({row.problem_set for row in rows}) < 2:
            return list(rows)
        shared = self.shared_problems(rows)
        if not shared:
            said = "; ".join(sorted({row.origin.said for row in rows}))
            raise UsageError(
                f"No problem was given to all of these, so they cannot be compared on the same ones. They are of "
                f"{said}. Choose benchmarks of one dataset that have problems in common: koderz results lists them."
            )
        found = {_key(row): row for row in self._results.summaries(sorted({row.benchmark for row in rows}), shared)}
        return [found[_key(row)] for row in rows if _key(row) in found]

    def problems(self, rows: Sequence[SummaryRow]) -> tuple[Difficulty, ...]:
        """Every problem that these configurations were given, the hardest first."""
        return difficulties({_key(row) for row in rows}, self._trials(rows, tries=False))

    def supervision(self, rows: Sequence[SummaryRow]) -> dict[tuple[str, str], Supervision]:
        """What the supervisor contributed to those of these configurations in which one reviewed something."""
        from koderz_core.analysis.supervision import supervision  # noqa: PLC0415 (numpy, as above)

        told = {key: supervision(trials) for key, trials in self._held([row for row in rows if _reviewed(row)]).items()}
        return {key: one for key, one in told.items() if one}

    def attempts(self, rows: Sequence[SummaryRow]) -> dict[tuple[str, str], AttemptByAttempt]:
        """What each of these configurations did attempt by attempt. Reads programs, to find those that came again."""
        from koderz_core.analysis.attempts import attempt_by_attempt  # noqa: PLC0415 (numpy, as above)

        held = self._held(rows)
        several = [trial.tries for trials in held.values() for trial in trials if len(trial.tries) > 1]
        texts = self._results.texts({try_.code for tries in several for try_ in tries if try_.code})
        shapes = {code: shape(text) for code, text in texts.items()}
        return {key: attempt_by_attempt(trials, shapes) for key, trials in held.items()}

    def among(self, word: str, rows: Sequence[SummaryRow]) -> SummaryRow:
        """The one of these that a word names: its letter, or as in ``named``. Raises UnknownNameError, UsageError."""
        return configuration_named(word, rows)

    def _held(self, rows: Sequence[SummaryRow]) -> dict[tuple[str, str], list[Trial]]:
        held: dict[tuple[str, str], list[Trial]] = {_key(row): [] for row in rows}
        for trial in self._trials(rows) if rows else ():
            held[trial.key].append(trial)
        return held

    def _trials(self, rows: Sequence[SummaryRow], *, tries: bool = True, apart: bool = False) -> list[Trial]:
        """Those of these configurations, on the problems that the rows are about."""
        about = {_key(row): None if row.only is None else frozenset(row.only) for row in rows}
        trials = self._results.trials(sorted({row.benchmark for row in rows}), tries=tries, apart=apart)
        known = [trial for trial in trials if trial.key in about]
        return [trial for trial in known if (only := about[trial.key]) is None or trial.problem in only]

    def _about_the_baseline(self, found: Comparison, rows: Sequence[SummaryRow]) -> Iterator[str]:
        if not frontier_asked_once(rows):
            yield self._baselines.to_measure(rows)
        elif found.baseline and all(row.benchmark != found.baseline[0] for row in rows if _key(row) != found.baseline):
            yield f"The baseline, {found.of(found.baseline).label}, was measured in {found.baseline[0]}."

    def _about_grounds(self, rows: Sequence[SummaryRow]) -> Iterator[str]:
        """What sets benchmarks apart that no configuration names."""
        grounds = self._results.grounds({row.benchmark for row in rows})
        told: dict[str, set[Scalar]] = {
            "Costs are by different prices": {ground.price_version for ground in grounds},
            "Scored by different tests": {ground.conditions.get(HELD_OUT) or "base tests" for ground in grounds},
            "Tests ran under different time limits": {ground.conditions.get(TIME_LIMIT) for ground in grounds},
        }
        for said, values in told.items():
            if len(values) > 1:
                yield f"{said} ({', '.join(sorted(map(str, values)))}): a difference may be theirs."


def _key(row: SummaryRow) -> tuple[str, str]:
    return row.benchmark, row.configuration


def _reviewed(row: SummaryRow) -> bool:
    """Whether it could be: looking at what was tried takes a while."""
    return "reviewer" in row.models
