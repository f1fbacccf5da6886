"""The recorded choices of exploring routers, and the value of a selector and its baselines by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.analysis.selector import probabilities
from koderz_core.analysis.selector_value import LENGTH, RANDOM, SELECTOR, Logged, OffPolicy, doubly_robust
from koderz_core.errors import UsageError
from koderz_core.events import CallStarted, Entry, ExperimentFinished, ExperimentStarted, MemoryRecalled
from koderz_core.journal import read_all
from koderz_core.memory.leak_guard import twins
from koderz_core.records import Problem, PublicProblem
from koderz_core.records.progress import SummaryRow
from koderz_core.records.selectors import Selector


@dataclass(frozen=True, slots=True)
class Choice:
    """One experiment of an exploring router. ``right``: whether the answer of the coder asked first was right."""

    problem: PublicProblem
    dataset: str
    models: tuple[str, ...]
    propensities: tuple[float, ...]
    chosen: int
    right: float


def recorded_choices(
    rows: Sequence[SummaryRow], journals: Path, problem: Callable[[str, str], Problem | None]
) -> Iterator[Choice]:
    """The choices with propensities in these configurations; ``problem`` as ``Memories.problem``."""
    for row in rows:
        if row.strategy != "router" or not row.parameters.get("explore") or row.parameters.get("checks"):
            continue
        of: defaultdict[str | None, list[Entry]] = defaultdict(list)
        for entry in read_all(journals / f"{row.benchmark}.jsonl"):
            of[entry.experiment].append(entry)
        for name, entries in of.items():
            started = [entry.event for entry in entries if isinstance(entry.event, ExperimentStarted)]
            if name is None or not started or started[0].experiment.configuration != row.configuration:
                continue
            known = problem(row.dataset, started[0].experiment.problem)
            if known and (choice := _choice(row, known.public, entries)):
                yield choice


def _choice(row: SummaryRow, problem: PublicProblem, entries: Sequence[Entry]) -> Choice | None:
    events = [entry.event for entry in entries]
    recalled = [event for event in events if isinstance(event, MemoryRecalled) and event.query.kind == "selector"]
    ended = [event for event in events if isinstance(event, ExperimentFinished)]
    members = list(dict.fromkeys(event.member for event in events if isinstance(event, CallStarted)))
    if not (recalled and members and ended and ended[-1].outcome in ("solved", "unsolved")):
        return None
    shares = {int(memory.tags["member"]): float(memory.tags["propensity"]) for memory in recalled[0].memories}
    right = float(ended[-1].outcome == "solved" and len(members) == 1)
    models = row.models["coder"]
    propensities = tuple(shares[at] for at in range(len(models)))
    return Choice(problem, row.dataset, models, propensities, members[0], right)


def values(selector: Selector, choices: Sequence[Choice]) -> Mapping[str, OffPolicy]:
    """By rule, the value on the recorded choices: each single model, random choice, length alone, and the selector.

    Problems that the selector was fitted to, and their near-duplicates, are left out. Raises UsageError without any
    other choice among models of the selector.
    """
    seen = {at for at, _ in twins([choice.problem for choice in choices], selector.seen)}
    kept = [
        choice for at, choice in enumerate(choices) if at not in seen and set(choice.models) <= set(selector.models)
    ]
    if not kept:
        raise UsageError(
            "To evaluate a selector, koderz needs experiments in which the router drew the model at random, on "
            "problems that the selector was not fitted to. The benchmarks contain no such experiments. First run a "
            "benchmark with 'router coder=select:learned explore=true' on such problems."
        )
    models = tuple(dict.fromkeys(model for choice in kept for model in choice.models))
    logged: defaultdict[str, list[Logged]] = defaultdict(list)
    for choice in kept:
        key = f"{choice.dataset} {choice.problem.id}"
        places = [selector.models.index(model) for model in choice.models]
        for rule, target, predicted in _rules(selector, choice, places, models):
            logged[rule].append(Logged(key, choice.propensities, choice.chosen, choice.right, predicted, target))
    return {rule: doubly_robust(entries) for rule, entries in logged.items()}


def _rules(
    selector: Selector, choice: Choice, places: Sequence[int], models: Sequence[str]
) -> Iterator[tuple[str, list[float], list[float]]]:
    """Each rule, its probabilities of choosing each model, and the predicted P(right)."""
    count = len(places)
    found = {}
    for rule, before in ((SELECTOR, selector.before), (LENGTH, selector.by_length)):
        (every,) = probabilities(before, [choice.problem], [choice.dataset], len(selector.models))
        found[rule] = [float(every[place]) for place in places]
    predicted = found[SELECTOR]
    for model in models:
        if model in choice.models:
            yield f"only {model}", [float(model == other) for other in choice.models], predicted
    yield RANDOM, [1 / count] * count, predicted
    for rule in (LENGTH, SELECTOR):
        best = max(range(count), key=lambda at: found[rule][at])
        yield rule, [float(at == best) for at in range(count)], predicted
