"""Taking up what was recorded: the plan of a journal, the dataset it was made from, or the same anew as a fork."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from itertools import count
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.errors import DataError, JournalError, PlanError, UnknownNameError
from koderz_core.events import AllowanceSet, BenchmarkOpened
from koderz_core.grading.testsets import check_tests
from koderz_core.journal import read_all
from koderz_core.records import Dataset, Plan
from koderz_core.runner.conditions import BY_CANONICAL, HELD_OUT, TIME_LIMIT, conditions, of_problems, of_prompts
from koderz_core.runner.header import header_then

ONCE_NAMED = {"coding": "1", "extraction": "1", "review": "1", "spec": "1"}
"""The prompts that every plan once named, in the versions that they had then."""


def recorded_plan(journal: Path) -> Plan:
    """The plan that a journal holds, as it was last grown, under the budget last given to it. Raises JournalError."""
    header = None
    for entry in read_all(journal):
        header = header_then(header, entry.event)
    if header is None:
        raise JournalError(f"The journal {journal.name} does not say what was planned. Run the benchmark anew.")
    return header.plan


def under_newest_budget(plan: Plan, journal: Path) -> Plan:
    """The plan under the budget that its benchmark was given while it ran, if it asks for one of before that.

    So the same command, or the same form, keeps to what was changed meanwhile. Raises JournalError.
    """
    stated: set[float | None] = set()
    header, changed = None, False
    for entry in read_all(journal) if journal.exists() else ():
        before, header = header, header_then(header, entry.event)
        if isinstance(entry.event, BenchmarkOpened):
            stated.add(entry.event.plan.budget.usd)
            changed = changed and before is not None and _usd(before) == _usd(entry.event)
        elif isinstance(entry.event, AllowanceSet) and entry.event.before is not None:
            changed = changed or entry.event.before.usd != entry.event.after.usd
    if header is None or not changed or plan.budget.usd not in stated:
        return plan
    return replace(plan, budget=replace(plan.budget, usd=_usd(header)))


def last_concurrency(journal: Path) -> int | None:
    """How many experiments a benchmark was last allowed to run at once; None if its journal does not say it.

    Raises JournalError.
    """
    allowed = [entry.event.after.concurrency for entry in read_all(journal) if isinstance(entry.event, AllowanceSet)]
    return allowed[-1] if allowed else None


def _usd(header: BenchmarkOpened) -> float | None:
    return header.plan.budget.usd


def as_recorded(plan: Plan, settings: Settings) -> Plan:
    """A plan without a journal under conditions that were once named instead of its own, if it has a journal so.

    Every prompt was named before only those of a plan's roles were, and the size of contexts for every model before it
    was only for those that it reaches; the time limit of tests was the setting's, whoever set it; and plus tests were
    no part of a score.
    """
    prompts = {**of_prompts(ONCE_NAMED), **plan.conditions}
    once = {one: value for one, value in prompts.items() if one != HELD_OUT}
    if once.get(TIME_LIMIT) == BY_CANONICAL:
        once[TIME_LIMIT] = settings.test_timeout
    ways = (once, {"num_ctx": settings.num_ctx, **once})
    before = (replace(plan, conditions=one) for one in ways)
    return next((one for one in (plan, *before) if _journal(one, settings).exists()), plan)


def dataset_of(plan: Plan, settings: Settings) -> Dataset:
    """The dataset that a plan was made from, if it is still the same. Raises DataError."""
    then = plan.dataset
    dataset = _load(plan, settings)
    if dataset.origin != then:
        raise DataError(
            f"{then.name} is another file now than when {plan.id} was planned: its SHA-256 began with "
            f"{then.sha256[:12]} and is {dataset.origin.sha256[:12]} now. Bring that file back (for one of your own: "
            f"--humaneval-path FILE), or start anew with --fork; what is recorded stays as it is."
        )
    return dataset


def forked(plan: Plan, settings: Settings, taken: Container[str]) -> Plan:
    """The same configurations and problems under today's dataset and conditions, and a name not ``taken``.

    Raises PlanError if the plan was never begun, DataError if the dataset lacks a problem now.
    """
    if not _journal(plan, settings).exists():
        raise PlanError(f"{plan.id} has not been begun, so there is nothing to fork. Leave --fork out.")
    dataset = _load(plan, settings)
    problems = {problem.id: problem for problem in dataset.problems}
    for problem in plan.problems:
        if problem not in problems:
            raise DataError(f"{plan.dataset.name} has no problem {problem} any more, so {plan.id} cannot be forked.")
        check_tests(problems[problem])
    now = conditions(plan.configurations, settings) | of_problems(problems[one] for one in plan.problems)
    stem = plan.name or f"{plan.id}-fork"
    names = (f"{stem}-{number}" for number in count(2))
    name = stem if not plan.name and stem not in taken else next(one for one in names if one not in taken)
    return replace(plan, name=name, dataset=dataset.origin, conditions=now)


def _journal(plan: Plan, settings: Settings) -> Path:
    return settings.journals_dir / f"{plan.id}.jsonl"


def _load(plan: Plan, settings: Settings) -> Dataset:
    try:
        return load(plan.dataset.name, settings)
    except UnknownNameError as error:
        raise DataError(f"The dataset of {plan.id} is not there any more. {error} Bring its file back.") from error
