"""The figures of a benchmark and of each of its experiments in one document, as ``schemas/kpi.schema.json`` has it.

What koderz does not know, or has not, is null: no machine is recorded, no patch is applied, nothing is selected twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import fsum

from koderz_core.records import Configuration, Plan, Verdict, fingerprint
from koderz_core.runner.conditions import HELD_OUT
from koderz_core.verification.tally import Tallied, Tally, added, counted

KPI_VERSION = "1.0.0"
Document = dict[str, object]
_CODER, _SPEC = "coder", "spec"


def kpi(told: Tally) -> Document:
    """What a journal comes to; of the same journal always the same."""
    header, of = told.opened[-1], list(told.experiments.values())
    configurations = {one.id: one for one in told.plan.configurations}
    ends = [one.outcome for one in of]
    return {
        "kpi_schema_version": KPI_VERSION,
        "run_id": header.benchmark,
        "ts": moment(told.opened_at),
        "name": told.plan.name,
        "totals": {
            "experiments": len(of),
            **{name: ends.count(name) for name in ("solved", "unsolved", "cancelled", "error")},
            "without_end": ends.count(None),
            "iterations": sum(one.iterations for one in of),
            "calls": sum(one.calls for one in of),
            "cost_usd": added([one.cost_usd for one in of]),
            "seconds": fsum(one.seconds or 0.0 for one in of),
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
        "experiments": [_experiment(one, configurations[one.experiment.configuration]) for one in of],
    }


def digest(plan: Plan) -> str:
    """Of all that is planned, in whatever order it was named."""
    return f"sha256:{plan.content}"


def models(plan: Plan) -> list[Document]:
    size = plan.conditions.get("num_ctx")
    held = ("embedded", "ollama")  # the providers that are told how long a context may be
    return [
        {"name": name, "source": name.partition("/")[0], "quant": None}
        | {"context_length": size if name.partition("/")[0] in held else None}
        for name in plan.models()
    ]


def agents(plan: Plan) -> list[Document]:
    """Every model with each role it has."""
    pairs = {(name, role) for one in plan.configurations for role, members in one.models.items() for name in members}
    return [{"name": name, "role": role} for name, role in sorted(pairs)]


def engines(plan: Plan) -> list[Document]:
    """Who answers. No journal tells which version of it."""
    return [{"backend": name, "version": None} for name in sorted({one.partition("/")[0] for one in plan.models()})]


def moment(at: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601 in UTC."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _experiment(one: Tallied, of: Configuration) -> Document:
    first = one.tests[min(one.tests)].verdict if one.tests else None
    returned = one.scores.get(one.finished.code or "") if one.finished else None
    gate, held_out = (returned.gate, returned.held_out) if returned else (None, None)
    answers = [one.answered[key] for key in sorted(one.answered, key=str)]
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
        "tests_before": _tests("gate", first),
        "tests_after": _tests("gate", gate),
        "tests_held_out": _tests("held_out", held_out),
        "pass_rate_before": _pass_rate(first),
        "pass_rate_after": _pass_rate(gate),
        "pass_rate_held_out": _pass_rate(held_out),
        **_winner(one, of),
        "sampling": _sampling(one),
        "config_digest": f"sha256:{fingerprint(of)}",
        "exit_status": _exit(one),
        "latency_ms": _latency(one),
        "iterations": one.iterations,
        "calls": one.calls,
        "token_usage": _usage(one),
        "cost_usd": one.cost_usd,
        "seconds": one.seconds,
    }


def _first_green(one: Tallied) -> float | None:
    """Of an answer that was never tested before its score, when that was known."""
    return one.finished_at if one.green_at is None and not one.tests and one.outcome == "solved" else one.green_at


def _first_success(one: Tallied, first: Verdict | None) -> bool | None:
    if first is not None:
        return first.passed
    return one.outcome == "solved" if one.outcome in ("solved", "unsolved") else None


def _tests(suite: str, verdict: Verdict | None) -> Document | None:
    if verdict is None:
        return None
    failed, skipped = verdict.marks.count("F"), verdict.marks.count("-")
    counts: Document = {"total": verdict.tests_total, "passed": verdict.tests_passed}
    return {"suite_name": suite, **counts, "failed": failed, "skipped": skipped}


def _pass_rate(verdict: Verdict | None) -> float | None:
    """Of all tests, those that were not reached too: who stops early has not passed more."""
    return verdict.tests_passed / verdict.tests_total if verdict and verdict.tests_total else None


def _winner(one: Tallied, of: Configuration) -> Document:
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


def _sampling(one: Tallied) -> Document | None:
    """How the first answer of a coder was really sampled."""
    coded = [answer for key, answer in one.answered.items() if one.asked[key].role == _CODER]
    if not coded:
        return None
    sent = coded[0].honoured
    unsaid: Document = {"top_k": None, "presence_penalty": None, "frequency_penalty": None}
    return {"temperature": sent.temperature, "top_p": sent.top_p, "max_tokens": sent.max_tokens, **unsaid}


def _exit(one: Tallied) -> Document:
    end = one.finished if not one.under_way else None
    error = (end.error if end.reason is None else end.failure) if end else None
    tested = any(score.returned for score in one.scores.values())
    return {
        "patched": end is not None and end.code is not None,
        "tests_passed": end is not None and end.outcome == "solved",
        "tests_missing": not tested,
        "error": error,
    }


def _latency(one: Tallied) -> Document:
    spec = [answer.seconds for key, answer in one.answered.items() if one.asked[key].role == _SPEC]
    coder = [answer.seconds for key, answer in one.answered.items() if one.asked[key].role == _CODER]
    tests = [tested.verdict.seconds for tested in one.tests.values()]
    nothing: Document = {"debate": None, "selection": None, "patch_apply": None}
    return {"planning": _ms(spec), "generation": _ms(coder), "tests": _ms(tests), **nothing}


def _usage(one: Tallied) -> Document | None:
    by_model: dict[str, list[tuple[int, int | None]]] = {}
    for key, answer in one.answered.items():
        used = by_model.setdefault(one.asked[key].model, [])
        used += [(0, answer.usage.input_tokens), (1, answer.usage.output_tokens)]
    names = ("prompt_tokens", "completion_tokens")
    summed: Mapping[str, object] = {
        model: {name: counted([tokens for place, tokens in used if place == at]) for at, name in enumerate(names)}
        for model, used in sorted(by_model.items())
    }
    return dict(summed) or None


def _ms(seconds: Iterable[float | None]) -> int | None:
    known = [one for one in seconds if one is not None]
    return round(1000 * fsum(known)) if known else None
