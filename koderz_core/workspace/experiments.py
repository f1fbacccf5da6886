"""Recorded experiments: commands that show or repeat one, its files, its timing, and experiments to compare it with."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from koderz_core.analysis.differences import Differences, StepPair, aligned, differing
from koderz_core.analysis.specs import compare_specs, count_empty, spec_results
from koderz_core.analysis.timing import PHASES, Timing, timings
from koderz_core.config import Settings
from koderz_core.datasets.selection import chosen_by, typed
from koderz_core.errors import DataError, PlanError
from koderz_core.grading.testsets import Outside, TestPolicy, split, unseen
from koderz_core.plan.clone import is_plannable, options_of, order_of, wanted_of
from koderz_core.plan.command_line import command_of
from koderz_core.plan.order import Order
from koderz_core.records import Configuration, Dataset, Plan, Problem, Scalar
from koderz_core.records.rows import ExperimentRow
from koderz_core.report.dump import DumpFile, files_of, text_hashes, write
from koderz_core.report.formats import plain
from koderz_core.report.repository_tests import RepositoryTests
from koderz_core.store.details import Naming, Several
from koderz_core.store.results import Results
from koderz_core.workspace.datasets import Datasets

__all__ = [
    "AT_ONCE",
    "PHASES",
    "Commands",
    "Dump",
    "Experiments",
    "StepPair",
    "Timing",
    "aligned",
    "compare_specs",
    "count_empty",
    "spec_results",
]

DUMP_FOLDER = "files"
AT_ONCE = 16  # experiments: opening the store takes as long as reading two, and other readers wait meanwhile
MOST_PEERS = 500  # the newest: a longer list is not usable


@dataclass(frozen=True, slots=True)
class Commands:
    """Command lines for a POSIX shell. ``look``: show the experiment and write its files. ``alone``: run it again.

    ``whole``: resume the benchmark of the experiment, without running recorded results again.
    """

    look: str
    alone: str
    whole: str


@dataclass(frozen=True, slots=True)
class Dump:
    """The number of files and of experiments that have been written to ``folder``."""

    folder: Path
    experiments: int = 0
    files: int = 0


@dataclass(frozen=True)
class Experiments:
    """Reads experiments from the store. Every method may raise StoreError, and UnknownNameError for an id."""

    settings: Settings
    results: Results
    datasets: Datasets

    def commands(self, row: ExperimentRow) -> Commands:
        """Return the commands for an experiment. Raises PlanError for names that cannot be typed safely.

        Also raises the errors of ``wanted_of``.
        """
        plan = self.results.plan(row.benchmark)
        dataset = self.dataset(plan)
        options = options_of(plan, self.settings) + ["--cache"] * plan.cached
        problem = chosen_by(dataset, [row.problem]) if dataset else typed(row.problem)
        budget = replace(plan.budget, usd=None)
        alone = Order([wanted_of(_configuration(plan, row))], problem, plan.seed, budget=budget)
        words = shlex.split(command_of(alone, plan.dataset.name, baselines=True))
        lines = (
            ["koderz", "analyze", row.id, "--dump", DUMP_FOLDER],
            ["koderz", "run", "--problem-id", *words[3:], *options],
            self._whole(plan, dataset, options),
        )
        return Commands(*map(_safe, map(shlex.join, lines)))

    def dump(self, chosen: str, folder: Path) -> Dump:
        """Write the files of an experiment or of all experiments of a benchmark, by id. Raises DataError."""
        of_benchmark = chosen.startswith("bench_")
        experiments = [row.id for row in self.results.experiments(chosen)] if of_benchmark else [chosen]
        write((), folder)  # fails early if the folder cannot be written, even without files
        dump = Dump(folder)
        for start in range(0, len(experiments), AT_ONCE):
            dump = self.extend(dump, experiments[start : start + AT_ONCE])
        return dump

    def extend(self, dump: Dump, experiments: Sequence[str]) -> Dump:
        """Write the files of further experiments; experiments that have not started have no files. Raises DataError."""
        found = self.read(experiments, text_hashes)
        written = [files for detail in found.details if (files := files_of(detail, found.texts))]
        for files in written:
            write(files, dump.folder)
        return Dump(dump.folder, dump.experiments + len(written), dump.files + sum(map(len, written)))

    def files(self, experiment: str) -> tuple[DumpFile, ...]:
        """Return the files of an experiment. Raises DataError."""
        found = self.read([experiment], text_hashes)
        return files_of(found.details[0], found.texts)

    def read(self, experiments: Sequence[str], naming: Naming) -> Several:
        """Return the same as ``Results.several``. Also raises DataError if a text is missing."""
        found = self.results.several(experiments, naming)
        wanted = {text for detail in found.details for text in naming(detail)}
        if missing := wanted - found.texts.keys():
            raise DataError(
                f"No journal contains the text whose SHA-256 starts with {min(missing)[:12]}. Restore the missing "
                "journal, then run `koderz reindex`."
            )
        return found

    def problem(self, row: ExperimentRow) -> Problem | None:
        """Return the problem; None if its dataset is missing or has changed. Its texts are hostile."""
        dataset = self.dataset(self.results.plan(row.benchmark))
        problems = dataset.problems if dataset else ()
        return next((problem for problem in problems if problem.id == row.problem), None)

    def given_files(self, row: ExperimentRow) -> Mapping[str, str]:
        """Return the files that a problem's patches change, by path; none for other problems, or as ``problem``."""
        problem = self.problem(row)
        return problem.public.files if problem else {}

    def repository_tests(self, row: ExperimentRow) -> RepositoryTests | None:
        """Return the ids of a repository's tests as the experiment's gate divides them; None as ``problem``."""
        problem = self.problem(row)
        if problem is None or problem.repository is None:
            return None
        plan = self.results.plan(row.benchmark)
        parts = split(problem, TestPolicy(_configuration(plan, row).gate, plan.seed))
        if isinstance(parts, Outside):
            return None
        held_out = (unseen(parts, gate_was_seen=seen).base.ids for seen in (True, False))
        return RepositoryTests(frozenset(problem.repository.failing), parts.gate.ids, *held_out)

    def peers(self, row: ExperimentRow) -> tuple[ExperimentRow, ...]:
        """Return the other started experiments on the same problem; those of the same benchmark come first."""
        found = self.results.experiments(problem=row.problem, limit=MOST_PEERS)
        started = (peer for peer in found if peer.started_at is not None and peer.id != row.id)
        same = (peer for peer in started if peer.dataset_sha256 == row.dataset_sha256)
        return tuple(sorted(same, key=lambda peer: peer.benchmark != row.benchmark))

    def differences(self, row: ExperimentRow, other: ExperimentRow) -> Differences:
        """Return the differences between two experiments in configuration and conditions."""
        return differing([dict(self._conditions(experiment)) for experiment in (row, other)])

    def timings(self, benchmark: str) -> tuple[Timing, ...]:
        """Return the time that a benchmark spent in each configuration and phase."""
        return timings(self.results.spans(benchmark))

    def _conditions(self, row: ExperimentRow) -> Iterator[tuple[str, Scalar]]:
        plan = self.results.plan(row.benchmark)
        configuration = _configuration(plan, row)
        yield "strategy", configuration.strategy
        yield from ((f"{role} model", " + ".join(members)) for role, members in configuration.models.items())
        yield from ((name.replace("_", " "), value) for name, value in configuration.parameters.items())
        yield from (("gate", configuration.gate), ("feedback", configuration.feedback))
        yield from ((name.replace("_", " "), value) for name, value in plan.conditions.items())
        yield from (("isolation", row.isolation), ("seed", plan.seed), ("repeat", row.repeat + 1))
        yield "budget per experiment ($)", plan.budget.per_experiment_usd

    def dataset(self, plan: Plan) -> Dataset | None:
        """Return the dataset of a plan; None if it is missing or has changed. Problems then have only their ids."""
        return self.datasets.unchanged(plan.dataset)

    def _whole(self, plan: Plan, dataset: Dataset | None, options: Sequence[str]) -> Sequence[str]:
        """The command that plans the benchmark again; if that would make another plan today, one that resumes it."""
        if plan.shard or dataset is None or not is_plannable(plan, dataset, self.settings):
            return ["koderz", "resume", plan.id]
        return [*shlex.split(command_of(order_of(plan, dataset), plan.dataset.name)), *options]


def _configuration(plan: Plan, row: ExperimentRow) -> Configuration:
    return next(configuration for configuration in plan.configurations if configuration.id == row.configuration)


def _safe(command: str) -> str:
    """The command, unless a terminal would run or show something else if it is pasted."""
    if plain(command) != command or "\n" in command or "\t" in command:
        raise PlanError(
            "A name in the command contains characters that a terminal would interpret or hide, so koderz does not "
            "show the command."
        )
    return command
