"""Recorded experiments: the commands that show or repeat one, its files, and other experiments to compare it with."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from koderz_core.analysis.differences import Differences, differing
from koderz_core.config import Settings
from koderz_core.datasets.selection import chosen_by, typed
from koderz_core.errors import DataError, KoderzError, PlanError
from koderz_core.plan.clone import is_plannable, order_of, settings_of, wanted_of
from koderz_core.plan.command_line import command_of
from koderz_core.plan.order import Order
from koderz_core.records import Configuration, Dataset, Plan, Scalar
from koderz_core.records.rows import ExperimentRow
from koderz_core.report.dump import DumpFile, files_of, text_hashes, write
from koderz_core.report.formats import plain
from koderz_core.store.details import Naming, Several
from koderz_core.store.results import Results

Load = Callable[[str], Dataset]
DUMP_FOLDER = "files"
AT_ONCE = 16  # experiments: opening the store takes as long as reading two, and everybody waits while it is read
MOST_FELLOWS = 500  # the newest: more are no list to choose from


@dataclass(frozen=True, slots=True)
class Commands:
    """Lines for a POSIX shell. ``look`` shows it and writes its files; ``alone`` asks the same anew; ``whole`` plans
    its benchmark, and so the experiment itself: what is recorded of that is not run again.
    """

    look: str
    alone: str
    whole: str


def commands_of(results: Results, load: Load, now: Settings, row: ExperimentRow) -> Commands:
    """The commands for a recorded experiment. Raises PlanError for names that cannot be typed safely, StoreError.

    Raises as ``wanted_of`` besides.
    """
    plan = plan_of(results, row.benchmark)
    dataset, options = _dataset(plan, load), [word for pair in settings_of(plan, now).items() for word in pair]
    one = [wanted_of(configuration_of(plan, row))]
    problem = chosen_by(dataset, [row.problem]) if dataset else typed(row.problem)
    alone = Order(one, problem, plan.seed, budget=replace(plan.budget, usd=None))
    words = shlex.split(command_of(alone, plan.dataset.name, baselines=True))
    lines = (
        ["koderz", "analyze", row.id, "--dump", DUMP_FOLDER],
        ["koderz", "run", "--problem-id", *words[3:], *options],
        _whole(plan, dataset, now, options),
    )
    return Commands(*map(_safe, map(shlex.join, lines)))


def _whole(plan: Plan, dataset: Dataset | None, now: Settings, options: Sequence[str]) -> Sequence[str]:
    """What plans the benchmark again; where its order would come to another one today, what takes up the journal."""
    if dataset is None or not is_plannable(plan, dataset, now):
        return ["koderz", "resume", plan.id]
    return [*shlex.split(command_of(order_of(plan, dataset), plan.dataset.name)), *options]


def plan_of(results: Results, benchmark: str) -> Plan:
    """What was planned as a benchmark (by id), from the index. Raises UnknownNameError, StoreError."""
    return results.plan(benchmark)


def _dataset(plan: Plan, load: Load) -> Dataset | None:
    """The dataset, None where it cannot be had or is another one now: then problems go by their ids."""
    try:
        dataset = load(plan.dataset.name)
    except KoderzError:
        return None
    return dataset if dataset.origin.sha256 == plan.dataset.sha256 else None


def configuration_of(plan: Plan, row: ExperimentRow) -> Configuration:
    """The one that an experiment of a plan is of."""
    return next(configuration for configuration in plan.configurations if configuration.id == row.configuration)


def _safe(command: str) -> str:
    """The command, unless pasting it would do or show something else than it says."""
    if plain(command) != command or "\n" in command or "\t" in command:
        raise PlanError("A name in it holds characters that a terminal would obey or hide, so no command is offered.")
    return command


@dataclass(frozen=True, slots=True)
class Dumped:
    """How many files of how many experiments stand in ``folder`` now."""

    folder: Path
    experiments: int = 0
    files: int = 0

    def and_of(self, results: Results, experiments: Sequence[str]) -> Dumped:
        """With the files of a few experiments more, which this writes; one in which nothing has happened has none.

        Raises DataError, StoreError, UnknownNameError.
        """
        found = read(results, experiments, text_hashes)
        made = [files for detail in found.details if (files := files_of(detail, found.texts))]
        for files in made:
            write(files, self.folder)
        return Dumped(self.folder, self.experiments + len(made), self.files + sum(map(len, made)))


def dump(results: Results, chosen: str, folder: Path) -> Dumped:
    """Write the files of an experiment, or of all experiments of a benchmark, by id. Raises as ``Dumped.and_of``."""
    of_benchmark = chosen.startswith("bench_")
    experiments = [row.id for row in results.experiments(chosen)] if of_benchmark else [chosen]
    write((), folder)  # where nothing can be written, that is said also of what has no files yet
    dumped = Dumped(folder)
    for start in range(0, len(experiments), AT_ONCE):
        dumped = dumped.and_of(results, experiments[start : start + AT_ONCE])
    return dumped


def dump_files(results: Results, experiment: str) -> tuple[DumpFile, ...]:
    """The files of the experiment of that id. Raises DataError, StoreError, UnknownNameError."""
    found = read(results, [experiment], text_hashes)
    return files_of(found.details[0], found.texts)


def read(results: Results, experiments: Sequence[str], naming: Naming) -> Several:
    """As ``Results.several``; raises DataError besides if a text is missing."""
    found = results.several(experiments, naming)
    wanted = {text for detail in found.details for text in naming(detail)}
    if missing := wanted - found.texts.keys():
        raise DataError(f"No journal holds the text {min(missing)[:12]}. Restore the missing journal, then reindex.")
    return found


def fellows(results: Results, row: ExperimentRow) -> tuple[ExperimentRow, ...]:
    """The other experiments on its problem, of the same file of problems: those of its benchmark first.

    Those in which nothing has happened yet are left out. Raises StoreError.
    """
    found = results.experiments(problem=row.problem, limit=MOST_FELLOWS)
    known = (experiment for experiment in found if experiment.state != "planned" and experiment.id != row.id)
    same = (one for one in known if one.dataset_sha256 == row.dataset_sha256)
    return tuple(sorted(same, key=lambda one: one.benchmark != row.benchmark))


def set_apart(results: Results, one: ExperimentRow, other: ExperimentRow) -> Differences:
    """What differs in their configurations, and in what both were run under. Raises StoreError."""
    return differing([dict(_settings(results, row)) for row in (one, other)])


def _settings(results: Results, row: ExperimentRow) -> Iterator[tuple[str, Scalar]]:
    plan = plan_of(results, row.benchmark)
    of = configuration_of(plan, row)
    yield "strategy", of.strategy
    yield from ((f"{role} model", " + ".join(members)) for role, members in of.models.items())
    yield from ((name.replace("_", " "), value) for name, value in of.parameters.items())
    yield from (("gate", of.gate), ("feedback", of.feedback))
    yield from ((name.replace("_", " "), value) for name, value in plan.conditions.items())
    yield from (("isolation", row.isolation), ("seed", plan.seed), ("repeat", row.repeat + 1))
    yield "most dollars per experiment", plan.budget.per_experiment_usd
