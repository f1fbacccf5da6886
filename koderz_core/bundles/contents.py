"""The files of a bundle, made of a redacted journal and of nothing else; among them its figures, ``kpi.json``.

``schemas/kpi.schema.json`` describes the figures. What koderz does not know, or has not, is null: no machine is
recorded, no patch is applied, nothing is selected twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from math import fsum

import msgspec

from koderz_core.bundles.redaction import ABOUT, SAFEST, Level
from koderz_core.conditions import HELD_OUT
from koderz_core.events import CallFinished, Entry, TextStored, encode
from koderz_core.events.tally import Call, ExperimentTally, Tally, added, totals_of
from koderz_core.models.capability_table import CONTEXT_SET
from koderz_core.records import Configuration, Plan, Verdict, fingerprint
from koderz_core.report.formats import count, money, plain
from koderz_core.times import iso

KPI, JOURNAL, MANIFEST, README = "kpi.json", "journal.jsonl", "manifest.json", "README.md"
ENVIRONMENT, PRICES, LICENCES, EXPERIMENTS = "environment.json", "prices.json", "licences.md", "experiments"
WHOLE = (KPI, MANIFEST)
"""What is never cut: half a document says nothing."""
KPI_VERSION = "1.0.0"
Document = dict[str, object]
_CODER, _SPEC = "coder", "spec"


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
    for experiment in told.experiments.values():
        folder = f"{EXPERIMENTS}/{experiment.experiment.id}"
        if experiment.tests or experiment.scores:
            yield _file(f"{folder}/tests.json", document(_test_results(experiment)))
        if experiment.consensus:
            yield _file(f"{folder}/consensus.json", document(msgspec.to_builtins(experiment.consensus)))
        if level != SAFEST:
            yield from _programs(folder, experiment, texts)


def _programs(folder: str, one: ExperimentTally, texts: Mapping[str, str]) -> Iterator[BundleFile]:
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
        f"- Problems and tests that are quoted here: {plain(dataset.name)}, licence {plain(dataset.licence)}.\n"
        "- What models answered: the terms of each model's publisher. Models: "
        f"{', '.join(plain(name) for name in told.plan.models())}.\n"
        "- koderz, which recorded it: MIT. Neither koderz nor any model is part of this bundle.\n"
    )


def _readme(told: Tally, level: Level) -> str:
    totals = added(experiment.totals for experiment in told.experiments.values())
    ended = totals.solved + totals.unsolved + totals.cancelled + totals.errors
    return f"""# {told.opened[-1].benchmark}

A benchmark that koderz recorded, to look at and to re-check. Privacy level {level}: {ABOUT[level]}.

| | |
|---|---|
| experiments | {count(totals.planned)} |
| solved, unsolved | {totals.solved}, {totals.unsolved} |
| cancelled, error, without an end | {totals.cancelled}, {totals.errors}, {totals.planned - ended} |
| calls | {count(totals.calls)} |
| cost | {money(totals.cost_usd)} |

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


def kpi(told: Tally) -> Document:
    """What a journal comes to; of the same journal always the same."""
    header, of = told.opened[-1], list(told.experiments.values())
    totals = added(tally.totals for tally in of)
    configurations = {configuration.id: configuration for configuration in told.plan.configurations}
    ends = [tally.outcome for tally in of]
    return {
        "kpi_schema_version": KPI_VERSION,
        "run_id": header.benchmark,
        "ts": moment(told.opened_at),
        "name": told.plan.name,
        "totals": {
            "experiments": len(of),
            **{name: ends.count(name) for name in ("solved", "unsolved", "cancelled", "error")},
            "without_end": ends.count(None),
            "iterations": totals.iterations,
            "calls": totals.calls,
            "cost_usd": totals.cost_usd,
            "seconds": totals.seconds,
        },
        "config_digest": digest(told.plan),
        "models": models(told.plan),
        "agents": agents(told.plan),
        "engines": engines(told.plan),
        "hardware": None,
        "safety": {"allow_net": header.isolation == "limited", "sandbox_mode": header.isolation, "fs_scope": None}
        | {"self_test": header.self_test or None},
        "dataset": {"name": told.plan.dataset.name, "sha256": told.plan.dataset.sha256}
        | {"licence": told.plan.dataset.licence},
        "dataset_tags": [str(told.plan.conditions[HELD_OUT])] if HELD_OUT in told.plan.conditions else [],
        "experiments": [_experiment(tally, configurations[tally.experiment.configuration]) for tally in of],
    }


def digest(plan: Plan) -> str:
    """Of all that is planned, in whatever order it was named."""
    return f"sha256:{plan.content}"


def models(plan: Plan) -> list[Document]:
    size = plan.conditions.get("num_ctx")
    return [
        {"name": name, "source": name.partition("/")[0], "quant": None}
        | {"context_length": size if name.partition("/")[0] in CONTEXT_SET else None}
        for name in plan.models()
    ]


def agents(plan: Plan) -> list[Document]:
    """Every model with each role it has."""
    pairs = {
        (name, role)
        for configuration in plan.configurations
        for role, members in configuration.models.items()
        for name in members
    }
    return [{"name": name, "role": role} for name, role in sorted(pairs)]


def engines(plan: Plan) -> list[Document]:
    """Who answers. No journal tells which version of it."""
    return [{"backend": name, "version": None} for name in sorted({model.partition("/")[0] for model in plan.models()})]


def moment(at: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601 in UTC."""
    return None if at is None else iso(at)


def _experiment(one: ExperimentTally, of: Configuration) -> Document:
    first = one.tests[min(one.tests)].verdict if one.tests else None
    returned = one.scores.get(one.finished.code or "") if one.finished else None
    gate, held_out = (returned.gate, returned.held_out) if returned else (None, None)
    answers = [answer for key in sorted(one.calls, key=str) if (answer := one.calls[key].answer)]
    totals = one.totals
    return {
        "run_id": one.experiment.id,
        "ts": moment(one.started_at),
        "problem": one.experiment.problem,
        "repeat": one.experiment.repeat,
        "seed": one.experiment.seed,
        "strategy": of.strategy,
        "configuration": of.id,
        "outcome": one.outcome,
        "reason": one.finished.reason if one.finished else None,
        "ttft_ms": _ms([answers[0].first_token_seconds]) if answers else None,
        "t_start": moment(one.started_at),
        "t_first_green": moment(_first_green(one)),
        "t_end": moment(one.finished_at),
        "first_prompt_success": _first_success(one, first),
        "tests_before": _test_counts("gate", first),
        "tests_after": _test_counts("gate", gate),
        "tests_held_out": _test_counts("held_out", held_out),
        "pass_rate_before": _pass_rate(first),
        "pass_rate_after": _pass_rate(gate),
        "pass_rate_held_out": _pass_rate(held_out),
        **_winner(one, of),
        "sampling": _sampling(one),
        "config_digest": f"sha256:{fingerprint(of)}",
        "exit_status": _exit(one),
        "latency_ms": _latency(one),
        "iterations": totals.iterations,
        "calls": totals.calls,
        "token_usage": _usage(one),
        "cost_usd": totals.cost_usd,
        "seconds": one.seconds,
    }


def _first_green(one: ExperimentTally) -> float | None:
    """Of an answer that was never tested before its score, when that was known."""
    untested = one.first_passed_at is None and not one.tests
    return one.finished_at if untested and one.outcome == "solved" else one.first_passed_at


def _first_success(one: ExperimentTally, first: Verdict | None) -> bool | None:
    if first is not None:
        return first.passed
    return one.outcome == "solved" if one.outcome in ("solved", "unsolved") else None


def _test_counts(suite: str, verdict: Verdict | None) -> Document | None:
    if verdict is None:
        return None
    failed, skipped = verdict.marks.count("F"), verdict.marks.count("-")
    counts: Document = {"total": verdict.tests_total, "passed": verdict.tests_passed}
    return {"suite_name": suite, **counts, "failed": failed, "skipped": skipped}


def _pass_rate(verdict: Verdict | None) -> float | None:
    """Of all tests, those that were not reached too: who stops early has not passed more."""
    return verdict.tests_passed / verdict.tests_total if verdict and verdict.tests_total else None


def _winner(one: ExperimentTally, of: Configuration) -> Document:
    """Whose program was handed in; None where several might have written it and nothing says who did."""
    coders, reached = of.models.get(_CODER, ()), one.consensus
    handed_in = one.finished is not None and one.finished.code is not None
    model, score = (coders[0] if handed_in and len(coders) == 1 else None), None
    if reached and reached.chosen:
        chosen = reached.candidates[reached.chosen - 1]
        model, score = coders[chosen.member] if chosen.member < len(coders) else None, chosen.similarity
    weights = list(reached.weights) if reached and reached.weights else None
    return {
        "winner_model": model,
        "winner_score": score,
        "consensus_method": reached.by if reached else None,
        "codebleu_weights": weights,
        "codebleu_lang": "python" if weights else None,
    }


def _sampling(one: ExperimentTally) -> Document | None:
    """How the first answer of a coder was really sampled."""
    coded = _answers(one, _CODER)
    if not coded:
        return None
    sent = coded[0].honoured
    unsaid: Document = {"top_k": None, "presence_penalty": None, "frequency_penalty": None}
    return {"temperature": sent.temperature, "top_p": sent.top_p, "max_tokens": sent.max_tokens, **unsaid}


def _exit(one: ExperimentTally) -> Document:
    end = one.finished if not one.running else None
    error = (end.error if end.reason is None else end.failure) if end else None
    tested = any(score.returned for score in one.scores.values())
    return {
        "patched": end is not None and end.code is not None,
        "tests_passed": end is not None and end.outcome == "solved",
        "tests_missing": not tested,
        "error": error,
    }


def _latency(one: ExperimentTally) -> Document:
    spec = [answer.seconds for answer in _answers(one, _SPEC)]
    coder = [answer.seconds for answer in _answers(one, _CODER)]
    tests = [tested.verdict.seconds for tested in one.tests.values()]
    nothing: Document = {"debate": None, "selection": None, "patch_apply": None}
    return {"planning": _ms(spec), "generation": _ms(coder), "tests": _ms(tests), **nothing}


def _usage(one: ExperimentTally) -> Document | None:
    usage = {
        model: {"prompt_tokens": totals.input_tokens, "completion_tokens": totals.output_tokens}
        for model, totals in sorted(one.by_model().items())
        if totals.calls
    }
    return dict(usage) or None


def _answers(one: ExperimentTally, role: str) -> list[CallFinished]:
    return [call.answer for call in one.calls.values() if call.answer and call.role == role]


def _ms(seconds: Iterable[float | None]) -> int | None:
    known = [second for second in seconds if second is not None]
    return round(1000 * fsum(known)) if known else None
