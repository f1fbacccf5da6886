"""Memories: find, show and retire them, distil lessons, compare them with the journals, and recall in experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from koderz_core import __version__
from koderz_core.analysis.model_selection import ranked as ranked_models
from koderz_core.config import Settings
from koderz_core.errors import CortexError, UnknownNameError, UsageError
from koderz_core.memory import memory_file, mirror_status
from koderz_core.memory.client import Client, server_of
from koderz_core.memory.cortex.database import DEFAULT_PROJECT, Cortex
from koderz_core.memory.cortex.schemas import CATEGORIES
from koderz_core.memory.cortex.search import Filters, SearchResult, StoredMemory, list_memories, one_line
from koderz_core.memory.cortex.write_tools import (
    RESTORED,
    RETIRED,
    SALIENCES,
    NewMemory,
    UpsertCounts,
    as_json,
    remember,
    set_salience,
    tags_text,
    type_for,
    upsert,
)
from koderz_core.memory.lessons import (
    LEAST_PROBLEMS,
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
from koderz_core.memory.memory_file import KINDS, MOST, ORDERS, Counts, MemoryQuery, Related
from koderz_core.memory.mirror import open_mirror
from koderz_core.memory.mirror_status import JournalStatus, ServerStatus
from koderz_core.models.providers import capabilities_of
from koderz_core.prompts import VERSIONS
from koderz_core.prompts.coding import MINIMAL
from koderz_core.records import Asker, Dataset, Memory, Problem, Query
from koderz_core.records.plans import scripted
from koderz_core.store import measurements
from koderz_core.store.results import Results
from koderz_core.strategies.reminders import ADVICE_TEMPERATURE
from koderz_core.strategies.selected import DIRECT

__all__ = [
    "KINDS",
    "LEAST_PROBLEMS",
    "MOST",
    "ORDERS",
    "Counts",
    "JournalStatus",
    "Lesson",
    "Memories",
    "MemoryQuery",
    "Related",
    "SearchResult",
    "ServerStatus",
    "ShownMemory",
    "StoredMemory",
    "one_line",
]

MOST_LESSONS = 500
_NO_FILE = "The memory file could not be created. Check the free space on its disk."


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """A memory with its related memories; ``metadata`` as in its JSON. Hostile texts."""

    memory: StoredMemory
    metadata: Mapping[str, object]
    related: tuple[Related, ...]
    lesson: Lesson | None

    @property
    def retired(self) -> bool:
        return self.memory.salience == 0


class Memories:
    """Searches and changes memories. May be used from several threads. Methods may raise CortexError, ConfigError."""

    def __init__(
        self, settings: Settings, results: Results, load: Callable[[str], Dataset], may_solve: MaySolve
    ) -> None:
        """``load`` returns a dataset by name. ``may_solve`` tests the program of an example on a problem."""
        self._settings, self._results, self._may_solve = settings, results, may_solve
        self._problems = cache(lambda name: {problem.id: problem for problem in load(name).problems})

    def find(self, sought: MemoryQuery) -> SearchResult:
        """Return the memories that match."""
        with memory_file.open_memory_file(self._settings) as cortex:
            return memory_file.find(cortex, sought) if cortex else SearchResult(())

    def counts(self) -> Counts | None:
        """Return the numbers of memories, None if no memory was ever stored."""
        with memory_file.open_memory_file(self._settings) as cortex:
            return memory_file.counts(cortex) if cortex else None

    def show(self, number: int) -> ShownMemory:
        """Return one memory in full. Raises UsageError if there is no memory with that id."""
        with memory_file.open_memory_file(self._settings) as cortex:
            if cortex is None:
                raise UsageError(f"There is no memory {number}: no memories are stored yet. Run a benchmark first.")
            memory = cortex.fetch(number)
            metadata = memory.full()["metadata"]
            known: Mapping[str, object] = metadata if isinstance(metadata, dict) else {}
            related = memory_file.related(cortex, memory, str(known.get("experiment_id") or ""))
            return ShownMemory(memory, known, tuple(related), stored_lesson(memory.metadata))

    def retire(self, number: int) -> None:
        """Exclude a memory from searches, and a lesson from prompts, until it is restored. Raises UsageError."""
        self._set_salience(number, RETIRED)

    def restore(self, number: int) -> None:
        """Restore a retired memory. Raises UsageError."""
        self._set_salience(number, RESTORED)

    def server(self) -> ServerStatus:
        """Start the memory server and return its state, which takes one or two seconds."""
        with open_mirror(self._settings, Client(server_of(self._settings), __version__)) as parts:
            return mirror_status.server_status(parts)

    def status(self) -> tuple[ServerStatus, list[JournalStatus]]:
        """Return the state of the memory server, and the share of each journal that it stores."""
        folder = self._settings.journals_dir
        with open_mirror(self._settings, Client(server_of(self._settings), __version__)) as parts:
            server = mirror_status.server_status(parts)
            files = mirror_status.journal_files(folder)
            return server, [mirror_status.journal_status(folder, parts.ledger, file) for file in files]

    def backfill(self, benchmark: str, report: Callable[[JournalStatus], None], *, again: bool = False) -> None:
        """Send the missing memories of one benchmark, or of all if ``benchmark`` is "", and report each journal.

        ``again``: also send memories that the server has confirmed. Raises UnknownNameError.
        """
        folder = self._settings.journals_dir
        files = mirror_status.journal_files(folder, benchmark)
        if not files:
            return
        with open_mirror(self._settings, Client(server_of(self._settings), __version__)) as parts:
            mirror_status.backfill(parts, folder, files, report, again=again)

    def distilled(self) -> list[Lesson]:
        """Return lessons on errors that recurred in the journals, without storing them. Raises StoreError.

        Scripted models count only if their memories are stored too.
        """
        return distil(measurements.lapses(self._results.store, scripted=self._settings.memory == "all"))

    def keep(self, lessons: Sequence[Lesson]) -> UpsertCounts:
        """Store lessons; each replaces the earlier lesson on its error. Experiments receive only stored lessons."""
        with memory_file.open_memory_file(self._settings, make=True) as cortex:
            if cortex is None:
                raise CortexError(_NO_FILE)
            return upsert(cortex, [_memory(cortex, lesson) for lesson in lessons])

    def remember(
        self,
        title: str,
        content: str,
        *,
        category: str = "note",
        importance: str = "normal",
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
    ) -> int:
        """Store a memory as it is, and return its number. ``find`` and MCP clients find it; no experiment receives it.

        Raises UnknownNameError for another category or importance, UsageError for a text that is empty or too long.
        """
        for what, name, known in (("category", category, CATEGORIES), ("importance", importance, SALIENCES)):
            if name not in known:
                raise UnknownNameError(what, name, known)
        if not (title.strip() and content.strip()):
            raise UsageError("A memory needs a title and content. Nothing was stored.")
        with memory_file.open_memory_file(self._settings, make=True) as cortex:
            if cortex is None:
                raise CortexError(_NO_FILE)
            kept = remember(
                cortex,
                title=title,
                content=content,
                category=category,
                importance=importance,
                tags=tags,
                metadata=metadata,
            )
            return int(str(kept.content["id"]))

    def lessons(self) -> list[Lesson]:
        """Return the stored lessons that are not retired, the most common first."""
        with memory_file.open_memory_file(self._settings) as cortex:
            if cortex is None:
                return []
            found = list_memories(cortex.connection, Filters(tags=[TAG]), "important", MOST_LESSONS, cortex.now())
        lessons = (stored_lesson(memory.metadata) for memory in found.memories if memory.salience > 0)
        return ranked(lesson for lesson in lessons if lesson)

    def recall(self, query: Query, asker: Asker) -> Sequence[Memory]:
        """Answer the query of an experiment. Raises InfrastructureError.

        ``Query("spec", {"prompt": version})``: specs of the same problem that the same model wrote, for the same prompt
        and at the temperature of specs; any other spec would be a different treatment under the same name.
        ``Query("lesson", {"error": class})``: lessons on a class of errors from other problems; without a class, on all
        errors. ``Query("solved")``: other problems that were solved. ``Query("statistics", {"policy": ..., "role":
        ...})``: the models of a role, the preferred model first.
        """
        if query.kind == "statistics":
            return self._preferred_models(query, asker)
        if query.kind == "spec":
            prompt = query.tags.get("prompt", MINIMAL)
            wording = VERSIONS["spec"]
            return measurements.recalled(self._results.store, asker, prompt, wording, ADVICE_TEMPERATURE, query.limit)
        try:
            problem = self.problem(asker.dataset.name, asker.problem)
            if problem is None:
                return []
            return self._from_other_problems(query, asker, problem)
        except UsageError as error:  # no experiment ends because of a dataset's name or a setting of the memory
            raise CortexError(str(error)) from error

    def problem(self, dataset: str, name: str) -> Problem | None:
        """Return a problem of a dataset, None if there is none. Raises UsageError, DataError."""
        problem: Problem | None = self._problems(dataset).get(name)
        return problem

    def _from_other_problems(self, query: Query, asker: Asker, problem: Problem) -> list[Memory]:
        by_script = scripted(asker.models.get("coder", ()))
        if query.kind == "solved":
            solved = measurements.solved(self._results.store, asker, scripted=by_script)
            return examples(solved, problem, problem_lookup(self._problems), self._may_solve, query.limit)
        error = query.tags.get("error")
        fitting = (lesson for lesson in self.lessons() if error in (None, lesson.error))
        same_kind = (lesson for lesson in fitting if lesson.scripted == by_script)
        memories = (for_problem(lesson, problem, problem_lookup(self._problems)) for lesson in same_kind)
        return [memory for memory in memories if memory][: query.limit]

    def _preferred_models(self, query: Query, asker: Asker) -> list[Memory]:
        """Ranked by their results with `direct` on other problems, in other benchmarks. Raises StoreError."""
        role = query.tags["role"]
        models = asker.models.get(role, ())
        contexts = {model: capabilities_of(model, self._settings).context_tokens for model in models}
        known = measurements.measurements(self._results.store, DIRECT, role, [asker.problem], asker.experiment)
        rows = ranked_models(query.tags["policy"], models, known, contexts)
        return [
            Memory(row.reason, row.model, {"member": str(models.index(row.model)), "score": str(row.score)})
            for row in rows
        ]

    def _set_salience(self, number: int, salience: float) -> None:
        with memory_file.open_memory_file(self._settings) as cortex:
            if cortex is None:
                raise UsageError(f"There is no memory {number}: no memories are stored yet.")
            set_salience(cortex, number, salience)


def _memory(cortex: Cortex, lesson: Lesson) -> NewMemory:
    """A lesson in the form in which it is stored."""
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
