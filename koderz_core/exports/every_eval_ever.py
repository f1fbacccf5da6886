"""Writes Every Eval Ever 0.3.0: for each configuration an aggregate (JSON) and its samples (JSON lines).

The schemas are those of the EvalEval coalition, https://github.com/evaleval/every_eval_ever. The files have the folders
and names of its data store: ``data/COLLECTION/DEVELOPER/MODEL/UUID.json`` and ``UUID_samples.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from koderz_core.analysis.rates import clustered, counted
from koderz_core.errors import DataError
from koderz_core.exports.every_eval_ever_samples import METRIC, VERSION, Evaluation, sample
from koderz_core.exports.recording import Recording, import_name
from koderz_core.models.pricing import publisher_of
from koderz_core.records import Configuration
from koderz_core.records.marks import RateKind, marks_of
from koderz_core.records.plans import IMPORTED, SOME_SCRIPTED
from koderz_core.records.rows import CallRow, ExperimentRow
from koderz_core.report.dump import DumpFile
from koderz_core.sandbox.inside.wire import Json
from koderz_core.sums import known_sum

_ENGINES = {"embedded": "llama.cpp", "ollama": "Ollama", "lmstudio": "LM Studio", "vllm": "vLLM"}
_PLATFORMS = {"openai": "OpenAI", "anthropic": "Anthropic"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = re.compile(r"(data|con|prn|aux|nul|(com|lpt)[1-9])(\..*)?", re.IGNORECASE)
"""Names of folders that the data store or Windows does not allow."""
_CONFIDENCE = 0.95
_KINDS = {
    "held_out": "tests that the strategy did not see",
    "oracle": "the tests that also decide when the strategy stops, so the rate is an upper bound of the rate on "
    "held-out tests",
    "mixed": "tests of different kinds; the metadata of each sample states its kind (koderz_score_kind)",
    "reported": "the tool that wrote the imported file; koderz did not run the programs",
}
_SEARCHED = " The prompts contained results of a web search, which may contain solutions."


@dataclass(frozen=True, slots=True)
class _Measured:
    """What was recorded of one configuration: its experiments with a result, and the first call of its coder."""

    recording: Recording
    configuration: Configuration
    evaluation: Evaluation
    rows: tuple[ExperimentRow, ...]
    call: CallRow | None

    @property
    def kind(self) -> RateKind | None:
        """Which tests score the experiments."""
        return marks_of(((row.problem, row.score_kind) for row in self.rows), saw_base_tests=False).kind


def write(recordings: Iterable[Recording]) -> Iterator[DumpFile]:
    """The files of all configurations. An experiment without a result has no sample; the aggregate counts it.

    A configuration without results has no files. Raises DataError if there are no results at all.
    """
    empty = True
    for recording in recordings:
        for configuration, label in recording.configurations():
            for file in _files(recording, configuration, label):
                empty = False
                yield file
    if empty:
        raise DataError("No experiment has a result yet, so there is nothing to export. Finish a benchmark first.")


def _files(recording: Recording, configuration: Configuration, label: str) -> Iterator[DumpFile]:
    role = _role(configuration)
    evaluation = _evaluation(recording, configuration, label)
    rows: list[ExperimentRow] = []
    calls: list[CallRow] = []
    lines: list[str] = []
    for transcript in recording.transcripts(configuration.id):
        row = transcript.details.experiment
        if row.id in recording.experiments and row.shown in ("solved", "unsolved"):
            rows.append(row)
            calls += [] if calls else [call for call in transcript.details.calls if call.role == role]
            lines.append(json.dumps(sample(transcript, evaluation), allow_nan=False))
    if not rows:
        return
    measured = _Measured(recording, configuration, evaluation, tuple(rows), calls[0] if calls else None)
    base = "/".join(("data", *_folders(recording.plan.dataset.name, evaluation.model), str(_uuid(measured))))
    samples = DumpFile(f"{base}_samples.jsonl", "".join(f"{line}\n" for line in lines).encode())
    yield DumpFile(f"{base}.json", json.dumps(_aggregate(measured, samples), indent=2, allow_nan=False).encode())
    yield samples


def _evaluation(recording: Recording, configuration: Configuration, label: str) -> Evaluation:
    model = configuration.models[_role(configuration)][0]
    dataset = recording.plan.dataset.name
    return Evaluation(
        id=f"{dataset}/{model.replace('/', '_')}/{recording.plan.id}_{configuration.id}",
        name=dataset,
        model=model,
        configuration=import_name(configuration, label),
        problems=recording.problems,
    )


def _role(configuration: Configuration) -> str:
    """The role whose first model stands for the configuration."""
    return "coder" if "coder" in configuration.models else next(iter(configuration.models))


def _uuid(of: _Measured) -> UUID:
    """The same for each export, so that an export replaces the files of an earlier one."""
    digest = hashlib.sha256(f"{of.recording.plan.id}/{of.configuration.id}".encode()).digest()
    return UUID(bytes=digest[:16], version=4)


def _folders(dataset: str, model: str) -> Iterator[str]:
    provider, name = model.split("/", 1) if "/" in model else ("unknown", model)
    for part in (dataset, publisher_of(model) or provider, name):
        safe = _UNSAFE.sub("_", part).strip("._")[:80].rstrip(".") or "unknown"
        yield f"_{safe}" if _RESERVED.fullmatch(safe) else safe


def _aggregate(of: _Measured, samples: DumpFile) -> dict[str, Json]:
    provenance = of.recording.provenance
    ended = [row.finished_at for row in of.rows if row.finished_at is not None]
    return {
        "schema_version": VERSION,
        "evaluation_id": of.evaluation.id,
        "evaluation_timestamp": f"{provenance.opened_at:.0f}",
        "retrieved_timestamp": f"{max(ended, default=provenance.opened_at):.0f}",
        "source_metadata": {
            "source_name": "koderz",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": _texts(
                benchmark=provenance.benchmark,
                benchmark_name=provenance.name,
                journal_sha256=provenance.journal_sha256,
            ),
        },
        "eval_library": {"name": "unknown", "version": "unknown"}
        if of.kind == "reported"
        else {
            "name": "koderz",
            "version": provenance.koderz_version,
            "additional_details": _texts(prices=provenance.price_version, sandbox_self_test=provenance.self_test),
        },
        "model_info": _model(of),
        "evaluation_results": [_result(of)],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": samples.name,
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.content).hexdigest(),
            "total_rows": len(of.rows),
        },
    }


def _model(of: _Measured) -> dict[str, Json]:
    """The model that writes the programs. All models of the configuration are in its additional details."""
    model = of.evaluation.model
    provider, _, name = model.partition("/")
    publisher, local = publisher_of(model), of.call is not None and of.call.tier == "local"
    platform = _PLATFORMS.get(provider) if not local else None
    deployment = "self_deployed" if local else "externally_managed" if platform else "unknown"
    weights = "closed_weights" if publisher else "open_weights" if provider == "embedded" else "unknown"
    imported = of.configuration.strategy == IMPORTED
    real = not imported and provider != "scripted"
    return {
        "name": name or model,
        "id": model,
        **({"developer": publisher} if publisher else {}),
        **({"inference_platform": platform} if platform and not imported else {}),
        **({"inference_engine": {"name": _ENGINES[provider]}} if provider in _ENGINES and not imported else {}),
        "additional_details": {
            "deployment_type": deployment if real else "unknown",
            "model_availability": weights if real else "unknown",
            **_texts(
                configuration=of.evaluation.configuration,
                models_by_role=json.dumps({role: list(names) for role, names in of.configuration.models.items()}),
                scripted=SOME_SCRIPTED if of.rows[0].scripted else None,
            ),
        },
    }


def _result(of: _Measured) -> dict[str, Json]:
    plan, kind = of.recording.plan, of.kind
    return {
        "evaluation_result_id": METRIC,
        "evaluation_name": of.evaluation.name,
        "source_data": {
            "dataset_name": plan.dataset.name,
            "source_type": "other",
            "additional_details": _texts(sha256=plan.dataset.sha256, licence=plan.dataset.licence),
        },
        "metric_config": {
            "evaluation_description": "Share of solved samples of a problem, averaged over all problems. "
            f"Scored by: {_KINDS[kind or 'held_out']}.{_SEARCHED if of.rows[0].searched else ''}",
            "metric_id": METRIC,
            "metric_name": "success rate",
            "metric_kind": "pass_rate",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": _texts(score_kind=kind),
        },
        "score_details": _score(of),
        "generation_config": _generation(of),
    }


def _score(of: _Measured) -> dict[str, Json]:
    rate = clustered(counted((row.problem, row.outcome == "solved") for row in of.rows), _CONFIDENCE)
    planned = sum(each.configuration == of.configuration.id for each in of.recording.experiments.values())
    return {
        "score": rate.value,
        "details": _texts(
            problems=rate.problems,
            solved=rate.successes,
            planned_samples=planned,
            samples_without_result=planned - rate.n,
            cost_usd=known_sum(row.cost_usd for row in of.rows),
            input_tokens=known_sum(row.input_tokens for row in of.rows),
            output_tokens=known_sum(row.output_tokens for row in of.rows),
        ),
        "uncertainty": {
            "confidence_interval": {
                "lower": rate.low,
                "upper": rate.high,
                "confidence_level": _CONFIDENCE,
                "method": "Wilson score interval, clustered by problem",
            },
            "num_samples": rate.n,
        },
    }


def _generation(of: _Measured) -> dict[str, Json]:
    """The settings of the first call of the coder; all parameters of the strategy are in ``eval_plan``."""
    configuration, isolation = of.configuration, of.recording.provenance.isolation
    sampling = (of.call.honoured or of.call.sampling) if of.call else None
    reasoning = configuration.parameters.get("chain_of_thought")
    arguments: dict[str, Json] = {
        "temperature": sampling.temperature if sampling else None,
        "top_p": sampling.top_p if sampling else None,
        "eval_plan": {
            "name": configuration.strategy,
            "steps": [
                json.dumps({"role": role, "models": list(names)}) for role, names in configuration.models.items()
            ],
            "config": _texts(
                **{"gate": configuration.gate, "feedback": configuration.feedback, **configuration.parameters}
            ),
        },
    }
    if sampling and sampling.max_tokens:
        arguments["max_tokens"] = sampling.max_tokens
    if isinstance(reasoning, bool):
        arguments["reasoning"] = reasoning
    if isolation:
        arguments["sandbox"] = {"type": isolation}
    return {"generation_args": arguments, "additional_details": _texts(**of.recording.plan.conditions)}


def _texts(**values: object) -> dict[str, Json]:
    """The known values as texts, which is what the schema's additional details are made of."""
    return {name: str(value) for name, value in values.items() if value is not None}
