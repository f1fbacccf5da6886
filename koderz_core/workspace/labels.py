"""Labels and notes that a person adds to experiments. They never change a score, a rate or a table of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from koderz_core.bundles.creation import require_own
from koderz_core.config import Settings
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.events import Entry, Event, ExperimentLabelled, ExperimentNoted
from koderz_core.events.annotations import MOST_LABEL, MOST_NOTE, label_of, note_of
from koderz_core.journal.annotations import record
from koderz_core.records.annotations import SUGGESTED, Annotation, labels_in_use
from koderz_core.store.results import Results

__all__ = ["MOST_LABEL", "MOST_LABELS", "MOST_NOTE", "Labels"]

MOST_LABELS = 20  # of one experiment
MOST_OFFERED = 100


@dataclass(frozen=True)
class Labels:
    """Reads and changes labels and notes. Every method may raise StoreError, JournalError. ``clock``: as time.time."""

    settings: Settings
    results: Results
    clock: Callable[[], float] = time.time

    def of(self, experiment: str) -> list[Annotation]:
        """Return the labels and the note of an experiment (by id). Raises UnknownNameError."""
        every = self.results.annotations(self._benchmark(experiment))
        return [annotation for annotation in every if annotation.experiment == experiment]

    def offered(self) -> Sequence[str]:
        """Return the labels in use, the most frequent first, and then the suggested labels."""
        return list(dict.fromkeys((*labels_in_use(self.results.annotations())[:MOST_OFFERED], *SUGGESTED)))

    def change(
        self, experiment: str, *, add: Iterable[str] = (), remove: Iterable[str] = (), note: str | None = None
    ) -> None:
        """Add and remove labels of an experiment (by id), and replace its note; None keeps the note, "" removes it.

        koderz masks keys in the texts. Raises UsageError if a text is invalid, if a label to remove does not exist, and
        in a dashboard that shows a bundle.
        """
        require_own(self.settings.home)
        mask = self.settings.redaction().text
        labels, text = [label_of(mask(label)) for label in add], None if note is None else note_of(mask(note))
        events = list(_changes(self.of(experiment), labels, list(remove), text))
        if not events:
            return
        journal = self.settings.journals_dir / f"{self._benchmark(experiment)}.jsonl"
        record(journal, [Entry(self.clock(), event, experiment) for event in events])

    def _benchmark(self, experiment: str) -> str:
        rows = self.results.experiments(among=(experiment,), limit=1)
        if not rows:
            raise UnknownNameError("experiment", experiment, None)
        return rows[0].benchmark


def _changes(
    before: Sequence[Annotation], add: Sequence[str], remove: Sequence[str], note: str | None
) -> Iterator[Event]:
    labels = [annotation.text for annotation in before if annotation.kind == "label"]
    for label in (dropped := dict.fromkeys(remove)):
        if label not in labels:
            raise UnknownNameError("label of the experiment", label, labels)
        yield ExperimentLabelled(label, removed=True)
    new = [label for label in dict.fromkeys(add) if label not in labels]
    if len(labels) + len(new) - len(dropped) > MOST_LABELS:
        raise UsageError(f"An experiment has at most {MOST_LABELS} labels. Remove a label first.")
    yield from map(ExperimentLabelled, new)
    if note is not None and note != next((annotation.text for annotation in before if annotation.kind == "note"), ""):
        yield ExperimentNoted(note)
