"""The recorded results that a selector is fitted to, and its value by the recorded choices of exploring routers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.sampling import is_right
from koderz_core.analysis.selector import answer_features, probabilities
from koderz_core.analysis.selector_fit import Evidence
from koderz_core.analysis.selector_value import LENGTH, RANDOM, SELECTOR, Logged, OffPolicy, doubly_robust
from koderz_core.errors import DataError, UsageError
from koderz_core.events import CallStarted, Entry, ExperimentFinished, ExperimentStarted, MemoryRecalled
from koderz_core.journal import read_all
from koderz_core.memory.leak_guard import twins
from koderz_core.records import Problem, PublicProblem
from koderz_core.records.plans import natural, scripted
from koderz_core.records.progress import SummaryRow
from koderz_core.records.selectors import Answer, Case, Selector
from koderz_core.records.trials import Trial, Try, id_in_dataset
from koderz_core.strategies.selected import DIRECT
from koderz_core.sums import known_mean

FindProblem = Callable[[str, str], Problem | None]
Place = tuple[str, str]
"""The name of a dataset, and the id of a problem in it."""


def gather(rows: Sequence[SummaryRow], trials: Mapping[Key, Sequence[Trial]], problem: FindProblem) -> Evidence:
    """The evidence in these configurations; ``problem`` as ``Memories.problem``. Raises UsageError, DataError.

    Only problems with a result of every model count, because an easy set of problems would favour the models that were
    given it. Programs count if one gate tested them and held-out tests scored them. Of several gates, the one with the
    most programs counts.
    """
    direct = [row for row in rows if row.strategy == DIRECT and len(row.models["coder"]) == 1]
    _require_one_setting(direct)
    models = tuple(dict.fromkeys(row.models["coder"][0] for row in direct))
    results = _results(direct, trials)
    tested = list(_tested(rows, trials))
    common = [place for place, of in results.items() if len(of) == len(models)]
    left_out = {"problems that lack a result of at least one model": len(results) - len(common)}
    known = _known(dict.fromkeys([*common, *(place for place, _, _ in tested)]), problem)
    groups = _groups(known)
    cases = tuple(
        _case(place, known[place], groups[place], [results[place][model] for model in models]) for place in common
    )
    gates = Counter(gate for _, gate, _ in tested)
    gate = gates.most_common(1)[0][0] if gates else ""
    answers = tuple(Answer(values, right, groups[place]) for place, own, (values, right) in tested if own == gate)
    left_out["programs tested with a gate other than the most frequent one"] = len(tested) - len(answers)
    return Evidence(
        models,
        cases,
        answers,
        gate,
        tuple(known[place] for place in dict.fromkeys(place for place, own, _ in tested if own == gate)),
        tuple(f"{row.benchmark} {row.label}" for row in rows),
        {why: count for why, count in left_out.items() if count},
        scripted(models),
    )


def _require_one_setting(direct: Sequence[SummaryRow]) -> None:
    """Raise UsageError for a model with several settings, such as efforts, whose results would be averaged."""
    settings: dict[str, SummaryRow] = {}
    for row in direct:
        first = settings.setdefault(row.models["coder"][0], row)
        if row.parameters != first.parameters:
            raise UsageError(
                f"The configurations {first.label} and {row.label} use the same model with different settings, so a "
                "selector cannot be fitted to both. Name the configurations to use, as BENCHMARK/CONFIGURATION."
            )


def _results(rows: Sequence[SummaryRow], trials: Mapping[Key, Sequence[Trial]]) -> dict[Place, dict[str, list[Trial]]]:
    """The scored trials by problem and model."""
    found: defaultdict[Place, dict[str, list[Trial]]] = defaultdict(dict)
    for row in rows:
        for trial in _in_order(trials[row.key]):
            if trial.scored:
                found[_place(row, trial)].setdefault(row.models["coder"][0], []).append(trial)
    return found


def _tested(
    rows: Sequence[SummaryRow], trials: Mapping[Key, Sequence[Trial]]
) -> Iterator[tuple[Place, str, tuple[tuple[float, ...], bool]]]:
    """Tested programs with a held-out result and known tokens: place, gate, features, and whether they are right."""
    for row in rows:
        for trial in _in_order(trials[row.key]):
            codes, shares = list[str | None](), _token_shares(trial.tries)
            for step in trial.tries:
                codes.append(step.code)
                if step.tokens is None:  # nor are those of the next answers
                    break
                tokens, right = shares[step.tokens], is_right(trial, step)
                if step.held_out_passed is None or right is None:
                    continue
                votes, marks = codes.count(step.code) / len(codes), (step.tests_passed, step.tests_total)
                values = answer_features(marks, step.error, tokens, step.iteration, votes)
                yield _place(row, trial), row.gate, (values, right)


def _token_shares(tries: Sequence[Try]) -> dict[int, int]:
    """The tokens behind each program, by the total up to its test; one number for all programs with the same total.

    A strategy may make several calls and test their programs afterwards. These programs share the tokens equally.
    """
    programs = Counter(step.tokens for step in tries if step.tokens is not None)
    return {total: (total - before) // programs[total] for before, total in pairwise([0, *programs])}


def _in_order(trials: Sequence[Trial]) -> list[Trial]:
    """By problem and repeat: folds must not depend on the order in which experiments ended."""
    return sorted(trials, key=lambda trial: (natural(trial.problem), trial.repeat))


def _place(row: SummaryRow, trial: Trial) -> Place:
    return row.dataset, id_in_dataset(trial.problem)


def _known(places: Mapping[Place, None], problem: FindProblem) -> dict[Place, PublicProblem]:
    found = {}
    for dataset, name in places:
        known = problem(dataset, name)
        if known is None:
            raise DataError(
                f"{dataset} no longer contains the problem {name}, so koderz cannot fit a selector to the results of "
                "this problem."
            )
        found[dataset, name] = known.public
    return found


def _groups(known: Mapping[Place, PublicProblem]) -> dict[Place, int]:
    """Equal numbers for problems that count as one, directly or through others."""
    places, problems = list(known), list(known.values())
    group = list(range(len(places)))

    def root(at: int) -> int:
        while group[at] != at:
            at = group[at]
        return at

    for twin, other in twins(problems, problems):
        group[max(root(twin), root(other))] = min(root(twin), root(other))
    return {place: root(at) for at, place in enumerate(places)}


def _case(place: Place, problem: PublicProblem, group: int, trials: Sequence[Sequence[Trial]]) -> Case:
    solved = tuple(sum(trial.solved for trial in of) / len(of) for of in trials)
    return Case(problem, place[0], group, solved, tuple(known_mean(trial.usd for trial in of) for of in trials))


@dataclass(frozen=True, slots=True)
class Choice:
    """One experiment of an exploring router. ``right``: whether the answer of the coder asked first was right."""

    problem: PublicProblem
    dataset: str
    models: tuple[str, ...]
    propensities: tuple[float, ...]
    chosen: int
    right: float


def recorded_choices(rows: Sequence[SummaryRow], journals: Path, problem: FindProblem) -> Iterator[Choice]:
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
