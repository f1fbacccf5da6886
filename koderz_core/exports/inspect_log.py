"""Logs for Inspect: one ``.eval`` file per configuration, written with the API of ``inspect_ai``."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koderz_core.errors import UsageError
from koderz_core.exports.inspect_events import Events, messages, output, score_of, usage
from koderz_core.exports.recording import Recording, Transcript, import_name
from koderz_core.prompts.markdown import fenced
from koderz_core.records import Configuration, Experiment, Verdict
from koderz_core.records.rows import CallRow, ExperimentRow
from koderz_core.report.dump import DumpFile
from koderz_core.times import clamp, iso, utc

NO_PROGRAM = "No program was returned."
_TASK = 40  # characters of a dataset's name in the name of a file
_METRICS = ("inspect_ai/accuracy", "inspect_ai/stderr")


def write(recordings: Iterable[Recording]) -> Iterator[DumpFile]:
    """The log of each configuration. Experiments without a result are left out. Raises UsageError, DataError."""
    try:
        from inspect_ai.log import write_eval_log  # noqa: PLC0415 (optional and heavy)
    except ImportError:
        raise UsageError("To write logs for Inspect, install inspect-ai: pip install 'koderz[inspect]'") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.eval"
        for recording in recordings:
            for configuration, label in recording.configurations():
                log = _Log(recording, configuration, label)
                write_eval_log(log.made(), path)
                yield DumpFile(log.file_name, path.read_bytes())


@dataclass(frozen=True, slots=True)
class _Log:
    """The log of one configuration."""

    recording: Recording
    configuration: Configuration
    label: str

    @property
    def file_name(self) -> str:
        """As Inspect names its logs: the time, the task and an id."""
        name = self.recording.plan.dataset.name[:_TASK]
        task = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
        benchmark, configuration = (id_.partition("_")[2] for id_ in (self.recording.plan.id, self.configuration.id))
        time = utc(clamp(self.recording.provenance.opened_at))
        return f"{time:%Y-%m-%dT%H-%M-%S}_{task}_{configuration}{benchmark}.eval"

    def made(self) -> Any:  # Any: an EvalLog of inspect_ai
        from inspect_ai.log import EvalLog, EvalPlan, EvalPlanStep, recompute_metrics  # noqa: PLC0415 (as above)

        experiments = self.recording.experiments
        transcripts = self.recording.transcripts(self.configuration.id)
        ended = [each for each in transcripts if each.details.experiment.id in experiments and _has_result(each)]
        scorer = _scorer(each.details.experiment for each in ended)
        samples = [self._sample(each, experiments[each.details.experiment.id], scorer) for each in ended]
        planned = sum(each.configuration == self.configuration.id for each in experiments.values())
        log = EvalLog(
            status="success" if len(samples) == planned else "cancelled",
            eval=self._spec(list(dict.fromkeys(sample.id for sample in samples)), scorer),
            plan=EvalPlan(steps=[EvalPlanStep(solver=self.configuration.strategy, params=self._settings())]),
            stats=_stats(samples, [call for each in ended for call in each.details.calls]),
            samples=samples,
        )
        recompute_metrics(log)
        return log

    def _spec(self, problems: list[str], scorer: str) -> Any:  # Any: an EvalSpec of inspect_ai
        from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec  # noqa: PLC0415 (as above)

        plan, provenance = self.recording.plan, self.recording.provenance
        first, *_ = models = [model for members in self.configuration.models.values() for model in members]
        coders = self.configuration.models.get("coder", (first,))
        return EvalSpec(
            run_id=plan.id,
            task_id=f"{self.configuration.id}-{plan.id}",
            eval_id=f"{self.configuration.id}-{plan.id}",
            created=iso(clamp(provenance.opened_at)),
            task=plan.dataset.name,
            task_display_name=f"{plan.dataset.name}: {self.label}",
            task_args=self._settings(),
            solver=self.configuration.strategy,
            solver_args=dict(self.configuration.parameters),
            dataset=EvalDataset(name=plan.dataset.name, samples=len(plan.problems), sample_ids=problems),
            model=coders[0],
            model_roles=self._roles() if len(models) > 1 else None,
            config=EvalConfig(epochs=plan.repeats, epochs_reducer=["mean"]),
            packages={"koderz": provenance.koderz_version},
            tags=["koderz", *(["scripted"] if provenance.scripted else [])],
            metadata={
                "koderz_version": provenance.koderz_version,
                "label": import_name(self.configuration, self.label),
                "configuration": self.configuration.id,
                "benchmark": plan.id,
                "benchmark_name": plan.name,
                "dataset_sha256": plan.dataset.sha256,
                "licence": plan.dataset.licence,
                "seed": plan.seed,
                "isolation": provenance.isolation,
                "prices": provenance.price_version,
                "conditions": dict(plan.conditions),
                "journal_sha256": provenance.journal_sha256,
            },
            scorers=[{"name": scorer, "metrics": [{"name": name} for name in _METRICS]}] if scorer else [],
        )

    def _settings(self) -> dict[str, Any]:  # Any: JSON
        chosen = self.configuration
        return {"strategy": chosen.strategy, **chosen.parameters, "gate": chosen.gate, "feedback": chosen.feedback}

    def _roles(self) -> Mapping[str, Any]:  # Any: a ModelConfig of inspect_ai, or a list of them
        from inspect_ai.model import ModelConfig  # noqa: PLC0415 (as above)

        roles = self.configuration.models.items()
        made = {role: [ModelConfig(model=model) for model in members] for role, members in roles}
        return {role: members if len(members) > 1 else members[0] for role, members in made.items() if members}

    def _sample(self, transcript: Transcript, planned: Experiment, scorer: str) -> Any:  # Any: an EvalSample
        from inspect_ai.log import EvalError, EvalSample  # noqa: PLC0415 (as above)
        from inspect_ai.model import ModelOutput  # noqa: PLC0415 (as above)

        row, program = transcript.details.experiment, transcript.program
        problem = self.recording.problems.get(row.problem)
        error = None
        if row.outcome == "error":
            error = EvalError(message=row.error or "unknown", traceback="", traceback_ansi="")
        score = None if error else _score(transcript)
        answer = ModelOutput.from_content(
            self._answering(transcript), NO_PROGRAM if program is None else fenced(program.rstrip())
        )
        start, end = clamp(row.started_at or 0.0), clamp(row.finished_at or 0.0)
        events = Events(transcript, start)
        events.add_steps()
        events.add_error(error, end) if error else events.add_score(scorer, score, end)
        return EvalSample(
            id=row.problem,
            epoch=row.repeat + 1,
            input=problem.public.prompt if problem else _first_prompt(transcript),
            target=problem.canonical_solution if problem else "",
            messages=_conversation(transcript),
            output=answer,
            scores=None if score is None else {scorer: score},
            metadata=_measures(transcript, planned),
            events=events.made,
            model_usage=_usages(transcript.details.calls),
            started_at=iso(start),
            completed_at=iso(end),
            total_time=row.seconds,
            uuid=row.id,
            error=error,
        )

    def _answering(self, transcript: Transcript) -> str:
        """The model of the last answer."""
        answered = [call.model for call in transcript.details.calls if call.state == "finished"]
        return answered[-1] if answered else next(iter(self.configuration.models.values()))[0]


def _has_result(transcript: Transcript) -> bool:
    row = transcript.details.experiment
    return row.state == "finished" and row.outcome in ("solved", "unsolved", "error")


def _scorer(rows: Iterable[ExperimentRow]) -> str:
    """The name of the only scorer of a log, because Inspect averages the scores of each scorer separately.

    It is the kind of all scores, or ``mixed`` if they differ; "" without a score.
    """
    kinds = {row.score_kind or "reported" for row in rows if row.outcome != "error"}
    return "mixed" if len(kinds) > 1 else next(iter(kinds), "")


def _score(transcript: Transcript) -> Any:  # Any: a Score of inspect_ai
    """The final score of the returned program."""
    from inspect_ai.scorer import Score  # noqa: PLC0415 (as above)

    row, program = transcript.details.experiment, transcript.program
    found = next((score for score in transcript.details.scores if score.returned), None)
    verdict: Verdict | None = None if found is None else found.held_out or found.gate
    solved = row.outcome == "solved"
    if verdict is not None and verdict.passed == solved:
        return score_of(verdict, program)
    return Score(value="C" if solved else "I", answer=program, explanation=row.failure or NO_PROGRAM)


def _measures(transcript: Transcript, planned: Experiment) -> dict[str, Any]:  # Any: JSON
    """What koderz measured. None: unknown."""
    row = transcript.details.experiment
    return {
        "experiment": row.id,
        "tier": transcript.tier,
        "seed": planned.seed,
        "outcome": row.outcome,
        "score_kind": row.score_kind,
        "stop_reason": row.reason,
        "failure": row.failure,
        "iterations": row.iterations,
        "calls": row.calls,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_usd": row.cost_usd,
        "seconds": row.seconds,
        "gate_tests_passed": row.gate_tests_passed,
        "gate_tests_total": row.gate_tests_total,
        "held_out_tests_passed": row.held_out_tests_passed,
        "held_out_tests_total": row.held_out_tests_total,
    }


def _conversation(transcript: Transcript) -> list[Any]:  # Any: messages of inspect_ai
    """The messages of the last answered call, and its answer."""
    answered = [call for call in transcript.details.calls if call.state == "finished"]
    if not answered:
        return []
    return [
        *messages(transcript, answered[-1]),
        *(choice.message for choice in output(transcript, answered[-1]).choices),
    ]


def _first_prompt(transcript: Transcript) -> str:
    sent = (
        content for call in transcript.details.calls for role, content in transcript.messages(call) if role == "user"
    )
    return next(sent, "")


def _usages(calls: Sequence[CallRow]) -> dict[str, Any]:  # Any: a ModelUsage of inspect_ai
    """The usage of each model. A model with an answer of unknown usage is left out."""
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for call in calls:
        if call.state == "finished" or call.input_tokens is not None:
            found[call.model].append(usage(call))
    return {model: _sum(usages) for model, usages in found.items() if None not in usages}


def _sum(usages: list[Any]) -> Any:  # Any: a ModelUsage of inspect_ai
    """Their sum; its cost is unknown if one cost is unknown. Inspect's own sum counts an unknown cost as zero."""
    total = usages[0]
    for each in usages[1:]:
        total = total + each
    costs = [each.total_cost for each in usages]
    return total.model_copy(update={"total_cost": None if None in costs else sum(costs)})


def _stats(samples: list[Any], calls: Sequence[CallRow]) -> Any:  # Any: classes of inspect_ai
    from inspect_ai.log import EvalStats  # noqa: PLC0415 (as above)

    return EvalStats(
        started_at=min((sample.started_at for sample in samples), default=""),
        completed_at=max((sample.completed_at for sample in samples), default=""),
        model_usage=_usages(calls),
    )
