"""The files of a bundle. They are made only of a redacted journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff

import msgspec

from koderz_core.bundles.archive import BundleFile
from koderz_core.bundles.documents import (
    ENVIRONMENT,
    EXPERIMENTS,
    JOURNAL,
    KPI,
    LABELS,
    LICENCES,
    MANIFEST,
    PRICES,
    README,
    Document,
    document,
    kpi,
)
from koderz_core.bundles.privacy import ABOUT, SAFEST, Level
from koderz_core.events import Entry, TextStored, encode
from koderz_core.events.tally import Call, ExperimentTally, Tally, added, totals_of
from koderz_core.report.formats import count, money_spent, plain
from koderz_core.report.patches import is_patch

WHOLE = (KPI, MANIFEST)
"""Files that are never truncated, because half a document is useless."""


def contents(
    entries: Sequence[Entry], labels: Sequence[Entry], told: Tally, level: Level, cap: int
) -> list[BundleFile]:
    """All files except the manifest, by path. A file longer than ``cap`` bytes is cut after its last whole line.

    ``labels``: the changes that make the labels and notes in effect.
    """
    labelled = [_file(LABELS, b"".join(map(encode, labels)))] if labels else []
    made = sorted((*_files(entries, told, level), *labelled), key=lambda file: file.path)
    return [file if file.path in WHOLE else _cut(file, cap) for file in made]


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
    for experiment in told.experiments.values():
        folder = f"{EXPERIMENTS}/{experiment.experiment.id}"
        if experiment.tests or experiment.scores:
            yield _file(f"{folder}/tests.json", document(_test_results(experiment)))
        if experiment.consensus:
            yield _file(f"{folder}/consensus.json", document(msgspec.to_builtins(experiment.consensus)))
        if level != SAFEST:
            yield from _programs(folder, experiment, texts)


def _programs(folder: str, one: ExperimentTally, texts: Mapping[str, str]) -> Iterator[BundleFile]:
    """The first program that was tested, the submitted one, and the difference between them."""
    first = next((tested.code for _, tested in sorted(one.tests.items()) if tested.code), None)
    last = one.finished.code if one.finished else None
    both = {"before": texts.get(first or ""), "after": texts.get(last or "")}
    for name, text in both.items():
        if text is not None:
            yield _file(f"{folder}/{name}.{'diff' if is_patch(text) else 'py'}", text.encode(), is_code=True)
    before, after = both.values()
    if before is not None and after is not None and before != after:
        lines = unified_diff(before.splitlines(), after.splitlines(), "before.py", "after.py", lineterm="")
        yield _file(f"{folder}/change.diff", "".join(f"{line}\n" for line in lines).encode(), is_code=True)


def _test_results(one: ExperimentTally) -> Document:
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
    """The conditions in the journal's headers. Journals do not record the machine."""
    header, plan = told.opened[-1], told.plan
    return {
        "koderz_versions": list(dict.fromkeys(header.koderz_version for header in told.opened)),
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
    calls: dict[str, list[Call]] = {}
    for experiment in told.experiments.values():
        for call in experiment.calls.values():
            if call.answered or call.usd is not None:
                calls.setdefault(call.model, []).append(call)
    header = told.opened[-1]
    return {
        "price_version": header.price_version,
        "local": dict(header.energy),
        "models": {
            model: {
                "calls": (totals := totals_of(attempts)).calls,
                "unpriced": totals.unpriced,
                "cost_usd": totals.cost_usd,
                "sources": sorted({call.answer.cost.source for call in attempts if call.answer}),
            }
            for model, attempts in sorted(calls.items())
        },
    }


def _licences(told: Tally) -> str:
    dataset = told.plan.dataset
    return (
        "# Licences\n\n"
        f"- The problems and tests in this bundle are from {plain(dataset.name)}. Licence: {plain(dataset.licence)}.\n"
        "- The models' answers are subject to the terms of each model's publisher. Models: "
        f"{', '.join(plain(name) for name in told.plan.models())}.\n"
        "- koderz (licence: MIT) recorded the benchmark. This bundle contains neither koderz nor a model.\n"
    )


def _readme(told: Tally, level: Level) -> str:
    totals = added(experiment.totals for experiment in told.experiments.values())
    ended = totals.solved + totals.unsolved + totals.cancelled + totals.errors
    return f"""# {told.opened[-1].benchmark}

This bundle contains a benchmark that koderz recorded. Its privacy level is {level} ({ABOUT[level]}).

| | |
|---|---|
| experiments | {count(totals.planned)} |
| solved, unsolved | {totals.solved}, {totals.unsolved} |
| cancelled, ended with an error, not ended | {totals.cancelled}, {totals.errors}, {totals.planned - ended} |
| calls | {count(totals.calls)} |
| cost | {money_spent(totals.cost_usd, totals.cached)} |

- `{JOURNAL}`: every event, one per line. All other files, except `{LABELS}`, are derived from this file.
  If a text was masked, the hashes and ids that depend on it were computed from the masked text.
- `{KPI}`: the figures of the benchmark and of each experiment, in the format that koderz' JSON schema
  `kpi.schema.json` defines.
- `{MANIFEST}`: the list of all files, with the SHA-256 of each.
- `{LABELS}`: the labels and notes that a person added to experiments, if any. Labels and notes do not affect
  the figures.
- `{EXPERIMENTS}/`: the test results of each experiment. If the privacy level allows it, the folder also contains
  the first program (`before.py`), the submitted program (`after.py`) and the difference between the two programs
  (`change.diff`). A program that changes a repository is a patch (`before.diff`, `after.diff`).
- `{ENVIRONMENT}`: the versions, sandbox and settings of the benchmark. `{PRICES}`: the prices of the models.
  `{LICENCES}`: the licences of the dataset and of koderz.

To view the bundle, use `koderz ui --open FILE`. To verify the bundle, use `koderz verify FILE`. The verification shows
whether the files are consistent, not who created them.
The programs were written by models: run them only in a sandbox.
"""


def _file(path: str, content: bytes, *, is_code: bool = False) -> BundleFile:
    return BundleFile(path, content, len(content), is_code)


def _cut(file: BundleFile, cap: int) -> BundleFile:
    if len(file.content) <= cap:
        return file
    kept = file.content[: file.content.rfind(b"\n", 0, cap) + 1]
    return BundleFile(file.path, kept, file.full_size, file.is_code)
