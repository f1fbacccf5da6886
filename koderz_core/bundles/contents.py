"""The files of a bundle, made of a journal that has been redacted and of nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff

import msgspec

from koderz_core.bundles.kpi import Document, kpi
from koderz_core.bundles.levels import ABOUT, SAFEST, Level
from koderz_core.events import Entry, TextStored, encode
from koderz_core.events.unanswered import UnansweredCall
from koderz_core.export.formats import count, money, plain
from koderz_core.verification.tally import Tallied, Tally, added

KPI, JOURNAL, MANIFEST, README = "kpi.json", "journal.jsonl", "manifest.json", "README.md"
ENVIRONMENT, PRICES, LICENCES, EXPERIMENTS = "environment.json", "prices.json", "licences.md", "experiments"
WHOLE = (KPI, MANIFEST)
"""What is never cut: half a document says nothing."""


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file as it stands in the bundle; ``full_size`` is what it was before it was cut. ``is_code``: of a program."""

    path: str
    content: bytes
    full_size: int
    is_code: bool = False

    @property
    def truncated(self) -> bool:
        return len(self.content) < self.full_size


def contents(entries: Sequence[Entry], told: Tally, level: Level, cap: int) -> list[BundleFile]:
    """All files but the manifest, by path; what is longer than ``cap`` bytes ends with its last whole line."""
    made = sorted(_files(entries, told, level), key=lambda file: file.path)
    return [file if file.path in WHOLE else _cut(file, cap) for file in made]


def document(value: object) -> bytes:
    """JSON of one spelling."""
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def _files(entries: Sequence[Entry], told: Tally, level: Level) -> Iterator[BundleFile]:
    yield _file(KPI, document(kpi(told)))
    yield _file(JOURNAL, b"".join(map(encode, entries)))
    yield _file(ENVIRONMENT, document(_environment(told)))
    yield _file(PRICES, document(_prices(told)))
    yield _file(LICENCES, _licences(told).encode())
    yield _file(README, _readme(told, level).encode())
    if told.plan.selections:
        yield _file("selections.json", document(msgspec.to_builtins(told.plan.selections)))
    texts = {entry.event.sha256: entry.event.text for entry in entries if isinstance(entry.event, TextStored)}
    for one in told.experiments.values():
        folder = f"{EXPERIMENTS}/{one.experiment.id}"
        if one.tests or one.scores:
            yield _file(f"{folder}/tests.json", document(_tests(one)))
        if one.consensus:
            yield _file(f"{folder}/consensus.json", document(msgspec.to_builtins(one.consensus)))
        if level != SAFEST:
            yield from _programs(folder, one, texts)


def _programs(folder: str, one: Tallied, texts: Mapping[str, str]) -> Iterator[BundleFile]:
    """The first program that was tried, the one handed in, and what lies between them."""
    first = next((tested.code for _, tested in sorted(one.tests.items()) if tested.code), None)
    last = one.finished.code if one.finished else None
    before, after = texts.get(first or ""), texts.get(last or "")
    if before is not None:
        yield _file(f"{folder}/before.py", before.encode(), is_code=True)
    if after is not None:
        yield _file(f"{folder}/after.py", after.encode(), is_code=True)
    if before is not None and after is not None and before != after:
        lines = unified_diff(before.splitlines(), after.splitlines(), "before.py", "after.py", lineterm="")
        yield _file(f"{folder}/change.diff", "".join(f"{line}\n" for line in lines).encode(), is_code=True)


def _tests(one: Tallied) -> Document:
    tests = [tested for _, tested in sorted(one.tests.items())]
    return {
        "iterations": [
            {"iteration": tested.iteration, "code": tested.code, "how": tested.how}
            | {"verdict": msgspec.to_builtins(tested.verdict), "passed": tested.verdict.passed}
            for tested in tests
        ],
        "scores": [msgspec.to_builtins(score) for score in one.scores.values()],
    }


def _environment(told: Tally) -> Document:
    """As the journal's headers tell it. No journal tells which machine it was."""
    header, plan = told.opened[-1], told.plan
    return {
        "koderz_versions": list(dict.fromkeys(one.koderz_version for one in told.opened)),
        "isolation": header.isolation,
        "self_test": header.self_test or None,
        "runtime": header.runtime or None,
        "conditions": dict(plan.conditions),
        "prompt_versions": dict(header.prompt_versions),
        "seed": plan.seed,
        "tiers": dict(header.tiers),
        "dataset": msgspec.to_builtins(plan.dataset),
        "problems": list(plan.problems),
        "left_out": dict(plan.outside),
        "machine": None,
    }


def _prices(told: Tally) -> Document:
    answers = [
        (one.asked[key].model, answer) for one in told.experiments.values() for key, answer in one.answered.items()
    ]
    unanswered = [call for one in told.experiments.values() for call in one.unanswered.values()]
    header = told.opened[-1]
    return {
        "price_version": header.price_version,
        "local": dict(header.energy),
        "models": {
            model: {
                "calls": len(costs := [answer.cost for name, answer in answers if name == model]),
                "unpriced": sum(cost.usd is None for cost in costs),
                "cost_usd": added([*(cost.usd for cost in costs), *_usd_of(model, unanswered)]),
                "sources": sorted({cost.source for cost in costs}),
            }
            for model in sorted({*(name for name, _ in answers), *(call.model for call in unanswered)})
        },
    }


def _usd_of(model: str, unanswered: Iterable[UnansweredCall]) -> list[float | None]:
    return [call.cost.usd for call in unanswered if call.cost and call.model == model]


def _licences(told: Tally) -> str:
    dataset = told.plan.dataset
    return (
        "# Licences\n\n"
        f"- Problems and tests that are quoted here: {plain(dataset.name)}, licence {plain(dataset.licence)}.\n"
        "- What models answered: the terms of each model's publisher. Models: "
        f"{', '.join(plain(name) for name in told.plan.models())}.\n"
        "- koderz, which recorded it: MIT. Neither koderz nor any model is part of this bundle.\n"
    )


def _readme(told: Tally, level: Level) -> str:
    of = list(told.experiments.values())
    ends = [one.outcome for one in of]
    cost = money(added([one.cost_usd for one in of]))
    return f"""# {told.opened[-1].benchmark}

A benchmark that koderz recorded, to look at and to re-check. Privacy level {level}: {ABOUT[level]}.

| | |
|---|---|
| experiments | {count(len(of))} |
| solved, unsolved | {ends.count("solved")}, {ends.count("unsolved")} |
| cancelled, error, without an end | {ends.count("cancelled")}, {ends.count("error")}, {ends.count(None)} |
| calls | {count(sum(one.calls for one in of))} |
| cost | {cost} |

- `{JOURNAL}`: every event, one per line; all else here is made of it. What was masked has other hashes and ids.
- `{KPI}`: the figures, by `kpi.schema.json` of koderz. `{MANIFEST}`: every file with its SHA-256.
- `{EXPERIMENTS}/`: per experiment what its tests said, and where the level lets them out the first program
  (`before.py`), the one handed in (`after.py`) and what lies between them (`change.diff`).
- `{ENVIRONMENT}`, `{PRICES}`, `{LICENCES}`: under which conditions, at which prices, and whose the texts are.

Re-check it with `koderz verify FILE`, look at it with `koderz ui --open FILE`. That tells whether it contradicts
itself, not who made it. Programs here come from models: run them only in a sandbox.
"""


def _file(path: str, content: bytes, *, is_code: bool = False) -> BundleFile:
    return BundleFile(path, content, len(content), is_code)


def _cut(file: BundleFile, cap: int) -> BundleFile:
    if len(file.content) <= cap:
        return file
    kept = file.content[: file.content.rfind(b"\n", 0, cap) + 1]
    return BundleFile(file.path, kept, file.full_size, file.is_code)
