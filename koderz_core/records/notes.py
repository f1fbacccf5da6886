"""What an experiment leaves behind beside calls, tests and scores, and the specs among it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from koderz_core.records.plans import Outcome, ScoreKind, scripted
from koderz_core.records.problems import DatasetOrigin


@dataclass(frozen=True, slots=True)
class NoteRow:
    """What a strategy put into the journal, or why nothing could be recalled; ``iteration``: the one it came after.

    Of a spec: the version ``prompt`` that it was asked for by, and the experiment it was recalled from, its
    ``origin``. Of a review: ``why`` it was due, and its answer by heading, of which ``passed_on`` make the text.
    Of a turn in a debate: the ``speaker`` and the ``round``. Of a consensus: ``why`` is what it was reached by.
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
    """A spec that an experiment's prompts were built on, written in it or, by its ``origin``, in another.

    ``model``: the first of the role. ``prompt``: the version it was asked for by, ``wording`` that of the text which
    asks, None if its benchmark did not tell. Tokens, cost and seconds are what writing it took, wherever that was;
    None: not known.
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

    @property
    def source(self) -> str:
        """The experiment that wrote it."""
        return self.origin or self.experiment

    @property
    def dataset_origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

    @property
    def scored(self) -> bool:
        """Whether its experiment came to a result that counts."""
        return self.outcome in ("solved", "unsolved")

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def scripted(self) -> bool:
        """Whether some answers of its experiment come from a script."""
        return scripted(model for members in self.models.values() for model in members)
