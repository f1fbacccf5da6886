"""What a log for another tool is written from: a benchmark, and everything that was recorded of its experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from koderz_core.records import Configuration, Experiment, Plan, Problem, Tier
from koderz_core.records.plans import IMPORTED
from koderz_core.records.rows import CallRow, ExperimentDetails, Provenance, Step


@dataclass(frozen=True, slots=True)
class Transcript:
    """An experiment with all its steps. ``texts``: every text that it names, by SHA-256."""

    details: ExperimentDetails
    texts: Mapping[str, str]

    @property
    def program(self) -> str | None:
        """The program that it returned, None if it returned none or a result was imported without one."""
        return self.text(self.details.experiment.code)

    @property
    def tier(self) -> Tier | None:
        """The tier of the coder that was called first; without a coder, of the model that was called first."""
        calls = self.details.calls
        return next((call.tier for call in [call for call in calls if call.role == "coder"] or calls), None)

    def messages(self, call: CallRow) -> tuple[tuple[str, str], ...]:
        """Role and content of each message that a call sent."""
        return tuple((message.role, self.texts.get(message.text, "")) for message in call.messages)

    def text(self, sha256: str | None) -> str | None:
        """The text of this hash, None without a hash."""
        return None if sha256 is None else self.texts.get(sha256, "")


@dataclass(frozen=True, slots=True)
class Recording:
    """A benchmark with the experiments that have started.

    ``experiments``: the planned experiments that success rates count, by id; of a decided sequential benchmark, only
    those on the problems that decided it. ``problems``: by id; empty if the dataset is missing here or has changed.
    ``labels``: of the configurations, by id. ``transcripts`` reads the experiments of a configuration (by id) in the
    order of the plan, anew at each call and a few at a time.
    """

    provenance: Provenance
    plan: Plan
    experiments: Mapping[str, Experiment]
    problems: Mapping[str, Problem]
    labels: Mapping[str, str]
    transcripts: Callable[[str], Iterator[Transcript]]

    def configurations(self) -> Iterator[tuple[Configuration, str]]:
        """The configurations in their order, each with its label."""
        for configuration in self.plan.configurations:
            yield configuration, self.labels[configuration.id]


def as_measured(details: ExperimentDetails) -> ExperimentDetails:
    """The experiment for tools that do not know the response cache: unmeasured costs and times are unknown, not 0."""
    if not details.experiment.cached:
        return details
    experiment = replace(details.experiment, cost_usd=None, seconds=None)
    calls, steps = list(map(_called, details.calls)), tuple(map(_stepped, details.steps))
    return replace(details, experiment=experiment, calls=calls, steps=steps)


def _stepped(step: Step) -> Step:
    if not any(call.cached_from for call in step.calls):
        return step
    return replace(step, calls=tuple(map(_called, step.calls)), cost_usd=None, seconds=None)


def _called(call: CallRow) -> CallRow:
    return replace(call, cost_usd=None, seconds=None, kwh=None) if call.cached_from else call


def import_name(configuration: Configuration, label: str) -> str:
    """The name by which an import knows a configuration again; of imported results, the import adds the rest."""
    return configuration.models["coder"][0] if configuration.strategy == IMPORTED else label


def known(fields: Mapping[str, Any]) -> dict[str, Any]:  # Any: JSON
    """The fields without those whose value is unknown, for formats that leave them out."""
    return {name: value for name, value in fields.items() if value is not None}
