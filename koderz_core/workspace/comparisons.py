"""Comparisons of configurations, the baselines that they are compared with, and what a missing baseline would cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from koderz_core.analysis.attempts import AttemptByAttempt, attempt_by_attempt
from koderz_core.analysis.comparison import AXES, Comparison, compare, trials_of_each
from koderz_core.analysis.configurations import ConfigurationFigures, frontier_asked_once
from koderz_core.analysis.difficulty import Cell, Difficulty, Kind, difficulties, only_solved, problems_of_kind
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.money import FrontierCost, frontier_cost
from koderz_core.analysis.noninferiority import COST_MARGIN, MARGIN
from koderz_core.analysis.pairs import DiscordantProblem, Key, Pair, leading_pair
from koderz_core.analysis.registration import with_primary
from koderz_core.analysis.sampling import Sampling, sampling
from koderz_core.analysis.slices import SLICES_BY, SliceBy, Slices, slices
from koderz_core.analysis.supervision import Supervision, supervision
from koderz_core.conditions import HELD_OUT, TIME_LIMIT, time_limit_text
from koderz_core.config import Settings
from koderz_core.datasets.selection import chosen_by
from koderz_core.errors import DataError, KoderzError, UnknownNameError, UsageError
from koderz_core.models.catalogue import resolve
from koderz_core.plan.baselines import DIRECT
from koderz_core.plan.clone import options_of
from koderz_core.plan.command_line import command_of
from koderz_core.plan.costs import Costs
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.plan.requirements import searches
from koderz_core.plan.strategy_files import facts_for_results
from koderz_core.prompts.programs import shape
from koderz_core.records import Budget, Dataset, Plan, Scalar
from koderz_core.records.plans import COST_LIMIT, scripted
from koderz_core.records.progress import RoleCost, SummaryRow
from koderz_core.records.trials import Ground, Measured, Trial
from koderz_core.report.findings import with_sentences
from koderz_core.report.forecasts import can_show
from koderz_core.report.formats import plain
from koderz_core.report.registration import about_untested
from koderz_core.report.trust import trust_line
from koderz_core.store.answers import Answers, Computed
from koderz_core.store.results import Results
from koderz_core.workspace.datasets import Datasets, facts_of
from koderz_core.workspace.names import Names, configuration_named, letter, usual_baseline
from koderz_core.workspace.registrations import about_looks, registered_among, untested_pairs
from koderz_core.workspace.trust import TrustChecks

__all__ = [
    "AXES",
    "COST_MARGIN",
    "MARGIN",
    "SLICES_BY",
    "AttemptByAttempt",
    "Axis",
    "Cell",
    "Comparison",
    "Comparisons",
    "ConfigurationFigures",
    "Difficulty",
    "DiscordantProblem",
    "FrontierCost",
    "Key",
    "Kind",
    "Pair",
    "Sampling",
    "SliceBy",
    "Slices",
    "Supervision",
    "leading_pair",
    "only_solved",
    "problems_of_kind",
]

_SAME = ("coding prompt", "extraction prompt", HELD_OUT, TIME_LIMIT, COST_LIMIT)
"""The conditions that must agree before a result from another benchmark counts as a baseline."""


@dataclass(frozen=True)
class Comparisons:
    """Compares configurations by the current content of the store. Every method may raise StoreError."""

    settings: Settings
    results: Results
    costs: Costs
    datasets: Datasets

    def named(self, names: Sequence[str], *, same_problems: bool = False) -> list[SummaryRow]:
        """Return the configurations that these names refer to, without duplicates, in the order of the names.

        A name refers to a benchmark (its id, the start of its id, or its name), to ``benchmark/configuration``, or to a
        configuration alone if only one benchmark has it. A configuration is named by its id, the start of its id, its
        label, or its letter in ``koderz compare``. ``same_problems``: as ``on_shared_problems``. Raises
        UnknownNameError, UsageError.
        """
        benchmarks = self.results.benchmarks()
        if not names:
            names = [benchmarks[0].id] if benchmarks else []
        found = [row for name in names for row in Names(self.results).configurations(name, benchmarks)]
        rows = self.results.reached(list({row.key: row for row in found}.values()))
        return self.on_shared_problems(rows) if same_problems else rows

    def compare(
        self,
        rows: Sequence[SummaryRow],
        baseline: str | None = None,
        axes: Sequence[Axis] | None = None,
        *,
        margins: tuple[float, float] = (MARGIN, COST_MARGIN),
        apart: bool = False,
        trust: bool = True,
    ) -> Comparison:
        """Compare configurations with ``baseline``, the letter or name of one of them; None: the default baseline.

        ``axes``: the curves to compute, None for all. ``margins``: by what share of problems a configuration that
        matches the baseline may solve fewer, above 0 and below 1, and how many times as much it may cost per solved
        problem. ``apart``: read a copy of the store, so that other readers do not wait for large benchmarks.
        ``trust``: remark on what was checked of recall and cheating. Raises UnknownNameError, UsageError.
        """
        base = None if baseline is None else configuration_named(baseline, rows)
        trials, untested = self._trials(rows, apart=apart), untested_pairs(self.results, rows)
        numbers = compare(rows, trials, base, AXES if axes is None else axes, margins, untested)
        found = registered_among(self.results, self.costs, (row.benchmark for row in rows))
        limited = {row.benchmark: row.only for row in rows if row.only is not None}
        whole = [each for each in found if {*each.plan.problems} <= {*limited.get(each.benchmark, each.plan.problems)}]
        pairs = with_primary(numbers.pairs, whole)  # a comparison without some registered problems is another one
        comparison = with_sentences(replace(numbers, pairs=pairs, registered=found), rows)
        checked = TrustChecks(self.results, self.datasets).check(rows, read=False) if trust else None
        return replace(
            comparison,
            findings=(*comparison.findings, *self._about_the_baseline(comparison, rows)),
            remarks=(
                *comparison.remarks,
                *about_looks(self.results, comparison),
                *(about_untested(comparison) if len(comparison.pairs) > 1 else ()),  # else the finding says it
                *self._about_conditions(rows),
                *([trust_line(comparison, checked)] if checked else []),
            ),
            roles=tuple(self._roles(rows)),
        )

    def against_frontier(self, rows: Sequence[SummaryRow]) -> Comparison | None:
        """Compare configurations with a frontier model that ran `direct` on the same problems, without curves.

        Returns None if there is no such model. If there are several, ``usual_baseline`` chooses.
        """
        found = self.with_baseline(rows)
        base = usual_baseline(frontier_asked_once(found))
        return None if base is None else self.compare(found, letter(found.index(base)), (), trust=False)

    def can_show(self, plan: Plan) -> str:
        """Describe in sentences how large a difference between its configurations a plan can detect."""
        return can_show(plan, self.results.past_pairs(plan.dataset.sha256, scripted=scripted(plan.models())))

    def with_baseline(self, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
        """Return the rows, and a frontier model with `direct` from another benchmark if no row is such a model."""
        rows = self.results.reached(rows)
        baseline = self.measured_elsewhere(rows)
        return [*rows, baseline] if baseline else list(rows)

    def measured_elsewhere(self, rows: Sequence[SummaryRow]) -> SummaryRow | None:
        """Return a frontier model with `direct` from another benchmark, with its results on the problems of the rows.

        Returns None if there is no such model, or if a row already is one. Models that review or write specs in the
        rows are preferred.
        """
        if not rows or frontier_asked_once(rows) or len({row.dataset_sha256 for row in rows}) > 1:
            return None
        grounds = self.results.grounds({row.benchmark for row in rows})
        problems = frozenset[str]().union(*_problems(rows, grounds))
        fitting = [
            measured
            for measured in self.results.measured()
            if measured.dataset_sha256 == rows[0].dataset_sha256 and _is_baseline(measured, problems, grounds)
        ]
        used = {model for row in rows for members in row.models.values() for model in members}
        fitting = [measured for measured in fitting if scripted(used) or not scripted([measured.model])]
        best = min(fitting, key=lambda measured: measured.model not in used, default=None)
        if best is None:
            return None
        only = None if problems == set(best.problems) else sorted(problems)
        return next(
            row for row in self.results.summaries(best.benchmark, only) if row.configuration == best.configuration
        )

    def how_to_measure_baseline(self, rows: Sequence[SummaryRow]) -> str:
        """Describe how to measure the missing baseline of these configurations, and its cost."""
        if found := self.measured_elsewhere(rows):
            return (
                "A frontier model was already measured. To compare with it, add its configuration after the other "
                f"configurations: koderz compare ... {found.benchmark}/{found.configuration}"
            )
        model = next((name for row in rows for name in self._supervisors(row)), None)
        with suppress(KoderzError):  # the dataset may have changed, or the rows may have several
            dataset, ids = self._common_dataset(rows)
            plan = self.results.plan(rows[0].benchmark)
            budget = Budget(per_experiment_usd=plan.budget.per_experiment_usd)
            order = Order([Wanted(DIRECT, {"coder": model or "MODEL"})], chosen_by(dataset, ids), budget=budget)
            command = " ".join([plain(command_of(order, dataset.origin.name)), *options_of(plan, self.settings)])
            if model is None:
                return f"To measure a frontier model alone, replace MODEL with its name and run: {command}"
            asked = (configuration(order.configurations[0], self.settings),)
            price = self.costs.price(Plan(dataset.origin, tuple(sorted(ids)), asked), asked, dataset)
            return f"To measure a frontier model alone (cost: {price}), run: {command}"
        names = {row.dataset for row in rows}
        return (
            "To measure a frontier model alone on the same problems, run: koderz benchmark --strategy direct --coder "
            f"MODEL --dataset {plain(names.pop()) if len(names) == 1 else 'DATASET'} --problems FIRST:LAST"
        )

    def frontier_costs(self, fits: Callable[[Measured], bool], problem: str | None = None) -> list[FrontierCost]:
        """Return rates and costs of the models that were measured with `direct` and pass ``fits``, as ``measured``.

        ``problem``: only its experiments count; None: all.
        """
        fitting = (measured for measured in self.results.measured() if fits(measured))
        found = (measured if problem is None else measured.on(problem) for measured in fitting)
        return [frontier_cost(measured) for measured in found if measured.problems]

    def shared_problems(self, rows: Sequence[SummaryRow]) -> tuple[str, ...]:
        """Return the problems that were given to all of these configurations; empty if their datasets differ."""
        if len({row.dataset_sha256 for row in rows}) != 1:
            return ()
        grounds = self.results.grounds(sorted({row.benchmark for row in rows}))
        return tuple(sorted(frozenset.intersection(*_problems(rows, grounds))))

    def on_shared_problems(self, rows: Sequence[SummaryRow]) -> list[SummaryRow]:
        """Return these configurations, limited to the problems that were given to all of them. Raises UsageError."""
        if len({row.problem_set for row in rows}) < 2:
            return list(rows)
        shared = self.shared_problems(rows)
        if not shared:
            origins = "; ".join(sorted({row.origin.said for row in rows}))
            raise UsageError(
                "The configurations have no problem in common, so they cannot be compared on the same problems. Their "
                f"datasets: {origins}. Choose benchmarks that share problems of one dataset. To list all benchmarks, "
                "run: koderz results"
            )
        found = {row.key: row for row in self.results.summaries(sorted({row.benchmark for row in rows}), shared)}
        return [found[row.key] for row in rows if row.key in found]

    def problems(self, rows: Sequence[SummaryRow]) -> tuple[Difficulty, ...]:
        """Return every problem that was given to one of these configurations, the hardest first."""
        return difficulties({row.key for row in rows}, self._trials(rows, tries=False))

    def slices(self, rows: Sequence[SummaryRow], by: SliceBy, baseline: Key | None) -> Slices:
        """Return the results of configurations on the problems of each difficulty, topic, tag, kind or year.

        Datasets state these facts, not journals, so they are unknown if the dataset is not on this machine.
        """
        trials = self.trials_of_each(rows, tries=False)
        values, notes = facts_of(self.datasets, [row.origin for row in rows], by)
        untested = {frozenset(pair) for pair in untested_pairs(self.results, rows)}
        return replace(slices(by, trials, baseline, values, untested), notes=notes)

    def supervision(self, rows: Sequence[SummaryRow]) -> dict[Key, Supervision]:
        """Return the contribution of the supervisor to each configuration that was reviewed."""
        reviewed = [row for row in rows if "reviewer" in row.models]  # reading the attempts of the others takes a while
        effects = {key: supervision(trials) for key, trials in self.trials_of_each(reviewed).items()}
        return {key: effect for key, effect in effects.items() if effect}

    def attempts(self, rows: Sequence[SummaryRow]) -> dict[Key, AttemptByAttempt]:
        """Return the results of each configuration by attempt. Reads all programs, to find repeated programs."""
        by_row = self.trials_of_each(rows)
        several = [trial.tries for trials in by_row.values() for trial in trials if len(trial.tries) > 1]
        texts = self.results.texts({attempt.code for tries in several for attempt in tries if attempt.code})
        shapes = {code: shape(text) for code, text in texts.items()}
        return {key: attempt_by_attempt(trials, shapes) for key, trials in by_row.items()}

    def trials_of_each(self, rows: Sequence[SummaryRow], *, tries: bool = True) -> dict[Key, list[Trial]]:
        """Return the trials of each configuration; problems of different datasets have different ids."""
        return trials_of_each(rows, self._trials(rows, tries=tries)) if rows else {}

    def sampling(self, rows: Sequence[SummaryRow]) -> dict[Key, Sampling]:
        """Return pass@k, pass^k, extrapolations and the selection among candidates of each configuration."""
        by_row, strategies = self.trials_of_each(rows), {row.key: row.strategy for row in rows}
        return {
            key: sampling(trials, samples=facts_for_results(strategies[key], self.settings).independent_samples)
            for key, trials in by_row.items()
        }

    def _trials(self, rows: Sequence[SummaryRow], *, tries: bool = True, apart: bool = False) -> list[Trial]:
        """The trials of these configurations, on the problems of the rows."""
        about = {row.key: None if row.only is None else frozenset(row.only) for row in rows}
        trials = self.results.trials(sorted({row.benchmark for row in rows}), tries=tries, apart=apart)
        known = [trial for trial in trials if trial.key in about]
        return [trial for trial in known if (only := about[trial.key]) is None or trial.problem in only]

    def _roles(self, rows: Sequence[SummaryRow]) -> Iterator[RoleCost]:
        """The cost of each role and model of these configurations, on the problems of the rows."""
        for only in dict.fromkeys(row.only for row in rows):
            keys = {row.key for row in rows if row.only == only}
            costs = self.results.role_costs(tuple(sorted({benchmark for benchmark, _ in keys})), only)
            yield from (cost for cost in costs if (cost.benchmark, cost.configuration) in keys)

    def _about_the_baseline(self, comparison: Comparison, rows: Sequence[SummaryRow]) -> Iterator[str]:
        base = comparison.baseline
        if not frontier_asked_once(rows):
            yield self.how_to_measure_baseline(rows)
        elif base and all(row.benchmark != base[0] for row in rows if row.key != base):
            yield f"The baseline, {comparison.of(base).label}, was measured in the benchmark {base[0]}."

    def _about_conditions(self, rows: Sequence[SummaryRow]) -> Iterator[str]:
        """The differences between benchmarks that no configuration names."""
        grounds = self.results.grounds({row.benchmark for row in rows})
        differences: dict[str, set[Scalar]] = {
            "Costs were computed with different prices": {ground.price_version for ground in grounds},
            "Programs were scored by different tests": {
                ground.conditions.get(HELD_OUT) or "base tests" for ground in grounds
            },
            "Tests ran with different time limits": {
                time_limit_text(ground.conditions.get(TIME_LIMIT)) for ground in grounds
            },
        }
        for sentence, values in differences.items():
            if len(values) > 1:
                known = ", ".join(sorted(map(str, values)))
                yield f"{sentence} ({known}). This may explain differences between the configurations."

    def _common_dataset(self, rows: Sequence[SummaryRow]) -> tuple[Dataset, frozenset[str]]:
        """The dataset of all rows, and the problems that they were given. Raises DataError."""
        dataset = self.datasets.load(rows[0].dataset)
        if any(row.origin != dataset.origin for row in rows):
            raise DataError("Some of these configurations ran on a version of the dataset that is not on this machine.")
        grounds = self.results.grounds({row.benchmark for row in rows})
        return dataset, frozenset[str]().union(*_problems(rows, grounds))

    def _supervisors(self, row: SummaryRow) -> Iterator[str]:
        for role, members in row.models.items():
            for model in members:
                with suppress(UnknownNameError):
                    if role != "coder" and resolve(model, self.settings).tier == "frontier":
                        yield model


def _is_baseline(measured: Measured, problems: frozenset[str], grounds: Sequence[Ground]) -> bool:
    return (
        measured.tier == "frontier"
        and problems <= set(measured.problems)
        and not searches(measured.parameters)
        and all(measured.conditions.get(name) == ground.conditions.get(name) for name in _SAME for ground in grounds)
    )


def _problems(rows: Sequence[SummaryRow], grounds: Iterable[Ground]) -> list[frozenset[str]]:
    """The problems of each row, in their order; none for a benchmark without a ground."""
    of_benchmark = {ground.benchmark: frozenset(ground.problems) for ground in grounds}
    return [of_benchmark.get(row.benchmark, frozenset()) if row.only is None else frozenset(row.only) for row in rows]


MOST_KEPT = 4


@dataclass(frozen=True, slots=True)
class Awaited:
    """A comparison that is computed in the background. ``computed``: the newest result, None before the first.

    ``since``: when the running computation started, None if none is running. ``outdated``: the journals have grown
    since ``computed``. Times are seconds since 1970.
    """

    computed: Computed[Comparison] | None
    since: float | None
    outdated: bool


class Awaiting:
    """Returns comparisons that were computed in the background, without waiting. Every method may raise StoreError."""

    def __init__(self, results: Results, comparing: Comparisons) -> None:
        self._results, self._comparing = results, comparing
        self._answers = Answers(time.time, MOST_KEPT)

    def comparison(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> Awaited:
        """Return the newest result of ``Comparisons.compare`` with all curves; start the first computation.

        Only ``anew`` starts another computation, so numbers on a page do not change while a person reads them. Raises
        the error of a failed computation, once.
        """
        computed: Computed[Comparison] | None = self._answers.newest(_answer_key(rows, baseline))
        if computed is None:
            self.anew(rows, baseline)
        outdated = computed is not None and computed.state != self._results.state()
        return Awaited(computed, self.since(rows, baseline), outdated)

    def since(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> float | None:
        """Return when the running computation started, in seconds since 1970; None if none is running."""
        return self._answers.since(_answer_key(rows, baseline))

    def anew(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> None:
        """Start a comparison of the current content of the journals."""
        state, key = self._results.state(), _answer_key(rows, baseline)
        self._answers.begin(key, state, lambda: self._comparing.compare(rows, baseline, apart=True))


def _answer_key(rows: Sequence[SummaryRow], baseline: str | None) -> tuple[object, ...]:
    return baseline, *((*row.key, row.problem_set) for row in rows)
