"""Makes the plan and the events of an imported benchmark. Each result becomes an experiment with one call."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from koderz_core.events import (
    SCHEMA_VERSION,
    BenchmarkClosed,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CandidateScored,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    TextStored,
)
from koderz_core.imports.records import Result
from koderz_core.records import (
    Configuration,
    DatasetOrigin,
    ErrorClass,
    Experiment,
    Plan,
    Sampling,
    Scalar,
    ScoreKind,
    StopReason,
    Tier,
    Verdict,
    fingerprint,
)
from koderz_core.records.plans import IMPORTED, Imported, natural


@dataclass(frozen=True, slots=True)
class Score:
    """The verdict of koderz on a result. ``verdict`` None: it could not be judged, for the reason ``trouble``.

    ``code``: the whole program, None if the answer has none.
    """

    code: str | None
    verdict: Verdict | None
    error: ErrorClass | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """What all experiments of an import share: the dataset, the conditions of grading, and names for the header."""

    imported: Imported
    origin: DatasetOrigin
    name: str
    conditions: Mapping[str, Scalar]
    tiers: Mapping[str, Tier]


def plans(results: Sequence[Result], source: Source) -> list[tuple[Plan, tuple[Result, ...]]]:
    """The plans of a file, each with its results: one for all models with the same number of samples per problem.

    A problem that a model has no or fewer results for is planned too, and has no result.
    """
    repeats: dict[str, int] = {}
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    for result in results:
        seen[result.model, result.problem] += 1
        repeats[result.model] = max(repeats.get(result.model, 0), seen[result.model, result.problem])
    made = []
    several = len(set(repeats.values())) > 1
    for number in sorted(set(repeats.values())):
        of = tuple(result for result in results if repeats[result.model] == number)
        name = f"{source.name} ({number} samples)" if several else source.name
        made.append((_plan(of, source, number, name), of))
    return made


def _plan(results: Sequence[Result], source: Source, repeats: int, name: str) -> Plan:
    return Plan(
        dataset=source.origin,
        problems=tuple(sorted({result.problem for result in results}, key=natural)),
        configurations=tuple(map(_configuration, dict.fromkeys(result.model for result in results))),
        repeats=repeats,
        name=name,
        conditions=source.conditions,
    )


def _configuration(model: str) -> Configuration:
    return Configuration(IMPORTED, {"coder": (model,)})


def header(plan: Plan, source: Source, version: str, isolation: str) -> BenchmarkOpened:
    """The first event of the journal. ``isolation``: of the sandbox that graded, empty if none did."""
    models = set(plan.models())
    return BenchmarkOpened(
        schema_version=SCHEMA_VERSION,
        koderz_version=version,
        benchmark=plan.id,
        plan=plan,
        prompt_versions={},
        price_version="",
        isolation=isolation,
        tiers={model: tier for model, tier in source.tiers.items() if model in models},
        imported=source.imported,
    )


def entries(
    opened: BenchmarkOpened, results: Iterable[Result], scores: Mapping[int, Score], at: float
) -> Iterator[Entry]:
    """Every line of the journal. ``scores``: by the line of their result. ``at``: when it was imported."""
    yield Entry(at, opened)
    planned = {
        (planned.configuration, planned.problem, planned.repeat): planned for planned in opened.plan.experiments()
    }
    ids = {configuration.models["coder"][0]: configuration.id for configuration in opened.plan.configurations}
    repeats: defaultdict[tuple[str, str], int] = defaultdict(int)
    texts: set[str] = set()
    for result in results:
        repeat = repeats[result.model, result.problem]
        repeats[result.model, result.problem] += 1
        experiment = planned[ids[result.model], result.problem, repeat]
        events = _events(experiment, result, scores.get(result.line))
        for event, ordinal, text in events:
            digest = None if text is None else hashlib.sha256(text.encode()).hexdigest()
            if digest is not None and digest not in texts:
                texts.add(digest)
                yield Entry(at, TextStored(digest, str(text)))
            yield Entry(at, _named(event, digest), experiment.id, ordinal)
    yield Entry(at, BenchmarkClosed("finished"))


def _named(event: Event, digest: str | None) -> Event:
    """The event with the hash of its text."""
    if digest is None:
        return event
    if isinstance(event, CallFinished):
        return replace(event, text=digest)
    return replace(event, code=digest) if isinstance(event, CandidateScored | ExperimentFinished) else event


def _events(
    experiment: Experiment, result: Result, score: Score | None
) -> Iterator[tuple[Event, int | None, str | None]]:
    """The events of a result, each with its ordinal and the text that it names."""
    yield ExperimentStarted(experiment), None, None
    request = fingerprint((result.model, result.problem))
    yield CallStarted("coder", 0, result.model, request, (), Sampling(), experiment.seed, attempt=1), 0, None
    yield CallFinished(None, "stop", result.usage, result.cost, result.seconds, None, Sampling()), 0, result.program
    if result.error:
        yield ExperimentFinished("error", None, None, None, result.seconds, error=result.error), None, None
    elif score is None:
        yield replace(_end(solved=bool(result.passed), kind="reported"), seconds=result.seconds), None, None
    elif score.verdict is None:
        yield ExperimentFinished("error", None, None, None, None, error=score.trouble), None, None
    else:
        if score.code is not None:
            yield CandidateScored("", returned=True, gate=None, held_out=score.verdict), None, score.code
        reason: StopReason = "gave_up" if score.code is None else "iterations"
        end = _end(solved=score.verdict.passed, kind="held_out")
        yield replace(end, reason=reason, failure=score.error, seconds=result.seconds), None, score.code


def _end(*, solved: bool, kind: ScoreKind) -> ExperimentFinished:
    return ExperimentFinished("solved" if solved else "unsolved", None, kind, None, None)
