"""What a workspace remembers: found, shown, retired, and distilled into lessons that experiments are reminded of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from koderz_core import __version__
from koderz_core.config import Settings
from koderz_core.errors import CortexError, UsageError
from koderz_core.memory import memory_file
from koderz_core.memory.client import Client, server_of
from koderz_core.memory.cortex.database import DEFAULT_PROJECT, Cortex
from koderz_core.memory.cortex.search import Filters, SearchResult, StoredMemory, list_memories
from koderz_core.memory.cortex.write_tools import (
    SALIENCES,
    NewMemory,
    UpsertCounts,
    as_json,
    restore,
    retire,
    tags_text,
    type_for,
    upsert,
)
from koderz_core.memory.lessons import (
    TAG,
    Lesson,
    MaySolve,
    distil,
    examples,
    for_problem,
    lesson_metadata,
    problem_lookup,
    ranked,
    stored_lesson,
)
from koderz_core.memory.mirror import open_mirror
from koderz_core.memory.mirror_status import ServerStatus, server_status
from koderz_core.records import Asker, Dataset, Memory, Problem, Query
from koderz_core.records.plans import scripted
from koderz_core.store.measurements import lapses, solved
from koderz_core.store.results import Results

MOST_LESSONS = 500


@dataclass(frozen=True, slots=True)
class Shown:
    """One memory with what it has to do with; ``metadata`` as JSON has it. Hostile texts."""

    memory: StoredMemory
    metadata: Mapping[str, object]
    related: tuple[memory_file.Related, ...]
    lesson: Lesson | None

    @property
    def retired(self) -> bool:
        return self.memory.salience == 0


class Memories:
    """Safe to ask from several threads; nothing stays open. Every question may raise CortexError, ConfigError."""

    def __init__(
        self, settings: Settings, results: Results, load: Callable[[str], Dataset], may_solve: MaySolve
    ) -> None:
        """``load``: a dataset by name. ``may_solve``: what an example's program is tried with."""
        self._settings, self._results, self._may_solve = settings, results, may_solve
        self._problems = cache(lambda name: {problem.id: problem for problem in load(name).problems})

    def find(self, sought: memory_file.MemoryQuery) -> SearchResult:
        """The memories that fit."""
        with memory_file.open_memory_file(self._settings) as cortex:
            return memory_file.find(cortex, sought) if cortex else SearchResult(())

    def counts(self) -> memory_file.Counts | None:
        """How much there is, None if nothing was ever remembered."""
        with memory_file.open_memory_file(self._settings) as cortex:
            return memory_file.counts(cortex) if cortex else None

    def show(self, number: int) -> Shown:
        """One memory, in full. Raises UsageError if there is none of that id."""
        with memory_file.open_memory_file(self._settings) as cortex:
            if cortex is None:
                raise UsageError(f"There is no memory {number}: nothing is remembered yet. Run a benchmark first.")
            memory = cortex.fetch(number)
            metadata = memory.full()["metadata"]
            known: Mapping[str, object] = metadata if isinstance(metadata, dict) else {}
            found = memory_file.related(cortex, memory, str(known.get("experiment_id") or ""))
            return Shown(memory, known, tuple(found), stored_lesson(memory.metadata))

    def retire(self, number: int) -> None:
        """Let a memory be found no more, and a lesson reach no prompt, until it is restored. Raises UsageError."""
        self._change(number, retire)

    def restore(self, number: int) -> None:
        """Take back that a memory was retired. Raises UsageError."""
        self._change(number, restore)

    def server(self) -> ServerStatus:
        """Ask the memory server who it is; it is started for that, which takes a second or two."""
        with open_mirror(self._settings, Client(server_of(self._settings), __version__)) as parts:
            return server_status(parts)

    def distilled(self) -> list[Lesson]:
        """What recurred in all journals, of scripted models only if they are remembered; nothing is kept of it.

        Raises StoreError.
        """
        return distil(lapses(self._results.store, scripted=self._settings.memory == "all"))

    def keep(self, lessons: Sequence[Lesson]) -> UpsertCounts:
        """Remember lessons, each in the place of the one on the same failure. Experiments are told of no others."""
        with memory_file.open_memory_file(self._settings, make=True) as cortex:
            if cortex is None:
                raise CortexError("The memory file could not be made. Look at its disk.")
            return upsert(cortex, [_memory(cortex, one) for one in lessons])

    def lessons(self) -> list[Lesson]:
        """The lessons that are kept and not retired, the most common first."""
        with memory_file.open_memory_file(self._settings) as cortex:
            if cortex is None:
                return []
            found = list_memories(cortex.connection, Filters(tags=[TAG]), "important", MOST_LESSONS, cortex.now())
        kept_ones = (stored_lesson(one.metadata) for one in found.memories if one.salience > 0)
        return ranked(kept_one for kept_one in kept_ones if kept_one)

    def recall(self, query: Query, asker: Asker) -> list[Memory]:
        """Answers ``Query("lesson", {"error": class})``, or of all errors, with what other problems taught only;
        ``Query("solved")`` with such of them as were solved.

        Raises InfrastructureError if the asker's problem cannot be had: then nothing can be known to be another one.
        """
        by_script = scripted(asker.models.get("coder", ()))
        try:
            problem: Problem | None = self._problems(asker.dataset.name).get(asker.problem)
            if problem is None:
                return []
            if query.kind == "solved":
                found = solved(self._results.store, asker, scripted=by_script)
                return examples(found, problem, problem_lookup(self._problems), self._may_solve, query.limit)
            lessons = self.lessons()
        except UsageError as error:  # no experiment ends because of a dataset's name or a setting of the memory's
            raise CortexError(str(error)) from error
        fitting = (one for one in lessons if query.tags.get("error") in (None, one.error) and one.scripted == by_script)
        told = (for_problem(one, problem, problem_lookup(self._problems)) for one in fitting)
        return [one for one in told if one][: query.limit]

    def _change(self, number: int, change: Callable[[Cortex, int], None]) -> None:
        with memory_file.open_memory_file(self._settings) as cortex:
            if cortex is None:
                raise UsageError(f"There is no memory {number}: nothing is remembered yet.")
            change(cortex, number)


def _memory(cortex: Cortex, lesson: Lesson) -> NewMemory:
    """A lesson as it is remembered."""
    now, salience = cortex.now(), SALIENCES["high"]
    return NewMemory(
        title=lesson.title,
        content=f"{lesson.text}\n\nFrom: {', '.join(lesson.problems)}",
        category="learning",
        type=type_for(salience),
        project=DEFAULT_PROJECT,
        scope="project",
        salience=salience,
        decayed_score=salience,
        created_at=now,
        last_accessed=now,
        tags=tags_text((TAG, lesson.error, *(("scripted",) if lesson.scripted else ()))),
        metadata=as_json({**lesson_metadata(lesson), "koderz_version": __version__}),
    )
