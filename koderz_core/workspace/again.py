"""The commands that show a recorded experiment, or do it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from koderz_core.config import Settings
from koderz_core.datasets.selection import chosen_by, typed
from koderz_core.errors import KoderzError, PlanError
from koderz_core.export.formats import plain
from koderz_core.records import Configuration, Dataset, Plan
from koderz_core.records.rows import ExperimentRow
from koderz_core.runner.again import is_plannable, order_of, settings_of, wanted_of
from koderz_core.runner.planning import Order
from koderz_core.runner.wording import command_of
from koderz_core.store.plans import planned
from koderz_core.store.results import Results

Load = Callable[[str], Dataset]
FOLDER = "files"


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
        ["koderz", "analyze", row.id, "--dump", FOLDER],
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
    with results.store.latest() as latest:
        return planned(latest.con, benchmark)


def _dataset(plan: Plan, load: Load) -> Dataset | None:
    """The dataset, None where it cannot be had or is another one now: then problems go by their ids."""
    try:
        dataset = load(plan.dataset.name)
    except KoderzError:
        return None
    return dataset if dataset.origin.sha256 == plan.dataset.sha256 else None


def configuration_of(plan: Plan, row: ExperimentRow) -> Configuration:
    """The one that an experiment of a plan is of."""
    return next(one for one in plan.configurations if one.id == row.configuration)


def _safe(command: str) -> str:
    """The command, unless pasting it would do or show something else than it says."""
    if plain(command) != command or "\n" in command or "\t" in command:
        raise PlanError("A name in it holds characters that a terminal would obey or hide, so no command is offered.")
    return command
