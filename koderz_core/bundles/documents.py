"""The documents of a bundle: its figures ``kpi.json`` and its ``manifest.json``, and the schemas of both.

Values that koderz does not know or does not have are null: it records no machine, applies no patch, and selects only
once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from math import fsum
from pathlib import Path
from typing import Any, Literal

from koderz_core.bundles.archive import BundleFile
from koderz_core.bundles.privacy import REDACTIONS, Level
from koderz_core.conditions import HELD_OUT
from koderz_core.errors import DataError, JournalError
from koderz_core.events import CallFinished
from koderz_core.events.tally import ExperimentTally, Tally, added
from koderz_core.models.providers import sets_context
from koderz_core.records import Configuration, Plan, Verdict, fingerprint
from koderz_core.records.marks import SEARCHED_SITES
from koderz_core.times import iso

KPI, JOURNAL, MANIFEST, README = "kpi.json", "journal.jsonl", "manifest.json", "README.md"
ENVIRONMENT, PRICES, LICENCES, EXPERIMENTS = "environment.json", "prices.json", "licences.md", "experiments"
LABELS = "labels.jsonl"
KPI_VERSION = "1.0.0"
MANIFEST_VERSION = "1.0.0"
Document = dict[str, object]
SchemaName = Literal["kpi", "manifest"]
_CODER, _SPEC = "coder", "spec"


def manifest(told: Tally, level: Level, files: Sequence[BundleFile], version: str) -> Document:
    """The manifest of a bundle. ``version``: of the koderz that creates it."""
    return {
        "manifest_schema_version": MANIFEST_VERSION,
        "kpi_schema_version": KPI_VERSION,
        "run_id": told.opened[-1].benchmark,
        "ts": moment(told.opened_at),
        "version": told.opened[-1].koderz_version,
        "privacy_level": level,
        "redactions": list(REDACTIONS[level]),
        "paths": {
            "kpi": KPI,
            "journal": JOURNAL,
            "environment": ENVIRONMENT,
            "prices": PRICES,
            "licences": LICENCES,
            "readme_case": README,
            "experiments_dir": EXPERIMENTS,
        },
        "files": [
            {"path": file.path, "size_bytes": len(file.content)}
            | {"full_size_bytes": file.full_size, "truncated": file.truncated}
            for file in files
        ],
        "hashes": {file.path: sha256(file.content) for file in files},
        "code_hashes": {file.path: sha256(file.content) for file in files if file.is_code},
        "bundle_truncated": any(file.truncated for file in files),
        "generated_by": {"version": version, "commit": None, "config_digest": digest(told.plan)},
        "engines": engines(told.plan),
        "models": models(told.plan),
        "agents": agents(told.plan),
    }


def document(value: object) -> bytes:
    """A value as JSON, always in the same form."""
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def faults(document: object, schema: SchemaName) -> list[str]:
    """The places where a document violates its schema, with the reason; empty if it is valid."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (slow to import, and only bundles need it)

    errors = Draft202012Validator(_schema(schema)).iter_errors(document)
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@cache
def _schema(name: SchemaName) -> Any:  # Any: JSON
    path = Path(__file__).parent / "schemas" / f"{name}.schema.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} is missing, so bundles cannot be created or checked. Install koderz again.") from error


def kpi(told: Tally) -> Document:
    """The figures of a journal; the same journal always gives the same figures. Raises JournalError."""
    try:
        return _figures(told)
    except (LookupError, ValueError, OverflowError, OSError) as error:
        raise JournalError(
            f"The figures of {told.opened[-1].benchmark} cannot be computed, because its journal contains an "
            "impossible value, such as an invalid time or an unknown configuration "
            f"({type(error).__name__}: {error}). Restore the journal from a backup, or ask its author for another copy."
        ) from error


def _figures(told: Tally) -> Document:
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
            **({"cached": totals.cached} if totals.cached else {}),
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
    """The digest of a plan, which does not depend on the order of its parts."""
    return f"sha256:{plan.content}"


def models(plan: Plan) -> list[Document]:
    size = plan.conditions.get("num_ctx")
    return [
        {"name": name, "source": name.partition("/")[0], "quant": None}
        | {"context_length": size if sets_context(name) else None}
        for name in plan.models()
    ]


def agents(plan: Plan) -> list[Document]:
    """Every model with each of its roles."""
    pairs = {
        (name, role)
        for configuration in plan.configurations
        for role, members in configuration.models.items()
        for name in members
    }
    return [{"name": name, "role": role} for name, role in sorted(pairs)]


def engines(plan: Plan) -> list[Document]:
    """The providers of the models. Journals do not record their versions."""
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
        **({"cached": totals.cached} if totals.cached else {}),
        **({"searched": True} if of.parameters.get("search") in SEARCHED_SITES else {}),
        "token_usage": _usage(one),
        "cost_usd": totals.cost_usd,
        "seconds": one.seconds,
    }


def _first_green(one: ExperimentTally) -> float | None:
    """The time of the first success; the end of an experiment that was solved without a test before its score."""
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
    """The share of all tests that passed. Tests that were not reached count as not passed."""
    return verdict.tests_passed / verdict.tests_total if verdict and verdict.tests_total else None


def _winner(one: ExperimentTally, of: Configuration) -> Document:
    """The model whose program was submitted; None if several may have written it and no event says which."""
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
    """The sampling of a coder's first answer, as it was sent."""
    coded = _answers(one, _CODER)
    if not coded:
        return None
    sent = coded[0].honoured
    unsaid: Document = {"top_k": None, "presence_penalty": None, "frequency_penalty": None}
    effort = {"effort": sent.effort} if sent.effort else {}
    return {"temperature": sent.temperature, "top_p": sent.top_p, "max_tokens": sent.max_tokens, **unsaid, **effort}


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
