"""Notes of an experiment: everything in the index besides calls, tests and scores; among them its specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from koderz_core.records.plans import Outcome, ScoreKind, scripted
from koderz_core.records.problems import DatasetOrigin


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note of a strategy, or the reason why a recall failed. ``kind``: that of its event, or ``recall_failed``.

    ``iteration``: the one before it. Of a spec: the version ``prompt`` of its prompt, and its ``origin``, the
    experiment that it was recalled from. Of a review: ``why`` it was due, and its answer by heading; ``passed_on`` make
    the text. Of a turn in a debate: the ``speaker`` and the ``round``. Of a consensus: ``why`` is the method.
    """

    experiment: str
    ordinal: int
    at: float
    kind: str
    iteration: int | None
    text: str
    prompt: str | None = None
    origin: str | None = None
    why: str | None = None
    sections: Mapping[str, str] = field(default_factory=dict)
    passed_on: tuple[str, ...] = ()
    speaker: str | None = None
    round: int | None = None


@dataclass(frozen=True, slots=True)
class SpecRow:
    """A spec in the prompts of an experiment, written there or, with an ``origin``, in another experiment.

    ``model``: the first of its role. ``prompt``: the version of the request, ``wording``: the version of its text, None
    if the benchmark did not record it. Tokens, cost and seconds are those of writing it, wherever that was; None:
    unknown.
    """

    experiment: str
    benchmark: str
    label: str
    strategy: str
    models: Mapping[str, tuple[str, ...]]  # role -> ids
    problem: str
    dataset: str
    dataset_sha256: str
    licence: str
    outcome: Outcome | None
    score_kind: ScoreKind | None
    model: str | None
    prompt: str
    wording: str | None
    origin: str | None
    at: float
    text: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    saw_base_tests: bool = False  # as in ``Marks``: of the configuration
    searched: bool = False  # as above

    @property
    def source(self) -> str:
        """The experiment that wrote it."""
        return self.origin or self.experiment

    @property
    def dataset_origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

    @property
    def scored(self) -> bool:
        """Whether its experiment has a result that counts."""
        return self.outcome in ("solved", "unsolved")

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def scripted(self) -> bool:
        """Whether some answers in its experiment come from a script."""
        return scripted(model for members in self.models.values() for model in members)
