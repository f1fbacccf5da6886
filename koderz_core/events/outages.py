"""Models whose calls fail, with the next attempts, and too little memory, derived from the entries of one journal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

from koderz_core.events.kinds import (
    AllowanceSet,
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    ExperimentFinished,
    MemoryLevelChanged,
)
from koderz_core.events.lines import Entry
from koderz_core.records.progress import MemoryShortage, ModelTrouble

CAUSE_CHARACTERS = 200


@dataclass(slots=True)
class TriedCall:
    """A call that has not ended: how many attempts failed, and when the next one is due (None: it is under way)."""

    model: str
    failures: int = 0
    next_at: float | None = None
    retries: int | None = None


@dataclass(slots=True)
class Episode:
    """The failures of a model since its last answer; the fields are as in ``ModelTrouble``."""

    cause: str
    begun_at: float
    failed_at: float
    failures: int = 0
    retries: int | None = None
    closed_until: float | None = None
    answered_at: float | None = None


@dataclass(slots=True)
class Troubles:
    """Reads the entries of one journal in order. Its fields are its complete state, so reading can continue later."""

    calls: dict[str, dict[int, TriedCall]] = field(default_factory=dict)  # experiment -> ordinal -> call
    episodes: dict[str, Episode] = field(default_factory=dict)  # by model
    memory: MemoryShortage | None = None

    def add(self, entry: Entry) -> None:
        """Read the next entry."""
        match entry.event:
            case BenchmarkOpened() | AllowanceSet(before=None):  # another process continues
                self.calls.clear()
                self.episodes.clear()
                self.memory = None
            case MemoryLevelChanged() as changed:
                self._add_memory(changed, entry.at)
            case ExperimentFinished() if entry.experiment:
                self.calls.pop(entry.experiment, None)
            case CallStarted() | CallFailed() | CallFinished() if entry.experiment and entry.ordinal is not None:
                self._add_call(entry.event, entry.at, entry.experiment, entry.ordinal)

    def _add_memory(self, changed: MemoryLevelChanged, at: float) -> None:
        if changed.level != "enough":
            self.memory = MemoryShortage(changed.level, changed.free_bytes, changed.wanted_bytes, at)
        elif self.memory is not None:
            self.memory = replace(self.memory, free_bytes=changed.free_bytes, ended_at=at)

    def _add_call(
        self, event: CallStarted | CallFailed | CallFinished, at: float, experiment: str, ordinal: int
    ) -> None:
        calls = self.calls.setdefault(experiment, {})
        if isinstance(event, CallStarted):
            calls.setdefault(ordinal, TriedCall(event.model)).next_at = None
        elif isinstance(event, CallFailed):
            if call := calls.get(ordinal) if event.wait_seconds is not None else calls.pop(ordinal, None):
                self._fail(call, event, at)
        elif call := calls.pop(ordinal, None):
            self._answer(call.model, at)

    def _fail(self, call: TriedCall, failed: CallFailed, at: float) -> None:
        call.failures += 1
        call.retries = failed.retries
        call.next_at = None if failed.wait_seconds is None else at + failed.wait_seconds
        episode = self.episodes.get(call.model)
        sentence = failed.message.partition("\n")[0].partition(". ")[0].removesuffix(".")
        cause = f"HTTP {failed.status}" if failed.status else sentence[:CAUSE_CHARACTERS]
        if episode is None or episode.answered_at is not None:
            episode = self.episodes[call.model] = Episode(cause, at, at)
        episode.cause, episode.failed_at, episode.retries = cause, at, failed.retries
        episode.failures += 1
        episode.closed_until = None if failed.closed_seconds is None else at + failed.closed_seconds

    def _answer(self, model: str, at: float) -> None:
        """An answer shows that the provider works; the model's trouble ends when no call to it waits any more."""
        for name, episode in self.episodes.items():
            if name.partition("/")[0] == model.partition("/")[0]:
                episode.closed_until = None
        own = self.episodes.get(model)
        if own and own.answered_at is None and not any(self._waiting(model)):
            own.answered_at = at

    def _waiting(self, model: str) -> Iterator[TriedCall]:
        for calls in self.calls.values():
            yield from (call for call in calls.values() if call.model == model and call.failures)

    def known(self) -> tuple[ModelTrouble | MemoryShortage, ...]:
        """The shortage of memory and the trouble of each model, by name, including trouble that is over."""
        models = (self._of(model, episode) for model, episode in sorted(self.episodes.items()))
        return (*([self.memory] if self.memory else []), *models)

    def _of(self, model: str, episode: Episode) -> ModelTrouble:
        waiting = list(self._waiting(model))
        due = sorted((call for call in waiting if call.next_at is not None), key=lambda call: call.next_at or 0.0)
        trying = [call for call in waiting if call.next_at is None]
        first = next(iter([*trying, *due]), None)
        trouble = ModelTrouble(model, waiting=len(waiting), **asdict(episode))
        if first is None:
            return trouble
        used = first.failures - (first.next_at is not None)
        return replace(trouble, next_at=first.next_at, retries_used=used, retries=first.retries)
