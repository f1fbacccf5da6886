"""Everything about one or several experiments: their rows, steps and texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from duckdb import DuckDBPyConnection

from koderz_core.errors import DataError
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import CallRow, ExperimentDetails, IterationRow, ScoreRow, Step, StepKind
from koderz_core.store.experiments import experiment as row_of
from koderz_core.store.index import Index, in_effect, records
from koderz_core.sums import known_sum

KINDS: Mapping[str, StepKind] = {
    "spec_written": "spec",
    "checkpoint_reviewed": "checkpoint",
    "turn_spoken": "turn",
    "consensus_reached": "consensus",
}
"""Notes that end a step."""


def steps(rows: ExperimentDetails) -> tuple[Step, ...]:
    """The steps in order; calls without a result so far are the last step."""
    counts: Counter[StepKind] = Counter()
    previous: str | None = None
    made: list[Step] = []
    calls = rows.calls
    for end in _ends(rows):
        before = _before(end, calls)
        calls = calls[len(before) :]
        step = _step(before, end, counts, previous)
        previous = step.program or previous
        made.append(step)
    return (*made, *_open_step(rows, calls, counts, previous))


def _before(end: IterationRow | NoteRow, calls: Sequence[CallRow]) -> list[CallRow]:
    """The calls of a step: all that are left before its end; of turns at the same time, each one has its own call."""
    before = [] if end.ordinal is None else [call for call in calls if call.ordinal < end.ordinal]
    if isinstance(end, NoteRow) and end.kind == "turn_spoken":
        return [call for call in before if call.ordinal == before[0].ordinal]
    return before


def _ends(rows: ExperimentDetails) -> list[IterationRow | NoteRow]:
    """The iteration or note at the end of each step; the calls of an iteration without an ordinal are unknown."""
    notes = [note for note in rows.notes if note.kind in KINDS]
    return sorted([*rows.iterations, *notes], key=lambda row: row.ordinal or 0)


def _step(
    calls: Sequence[CallRow], end: IterationRow | NoteRow, counts: Counter[StepKind], previous: str | None
) -> Step:
    if isinstance(end, IterationRow):
        counts["iteration"] += 1
        seconds = known_sum([_seconds(calls), end.seconds])
        return Step("iteration", end.iteration, tuple(calls), end, None, end.code, previous, seconds, _cost(calls))
    kind = KINDS[end.kind]
    counts[kind] += 1
    return Step(kind, counts[kind], tuple(calls), None, end, None, previous, _seconds(calls), _cost(calls))


def _open_step(
    rows: ExperimentDetails, calls: Sequence[CallRow], counts: Counter[StepKind], previous: str | None
) -> Iterator[Step]:
    if not calls:
        return
    kind = _open_kind(rows, calls[-1].role)
    program = rows.experiment.code if kind == "answer" else None
    number = counts[kind] + 1
    yield Step(kind, number, tuple(calls), None, None, program, previous, _seconds(calls), _cost(calls))


def _open_kind(rows: ExperimentDetails, role: str) -> StepKind:
    if role == "spec":
        return "spec"
    if role == "reviewer":
        return "checkpoint"
    if role == "speaker":
        return "turn"
    return "answer" if _submitted_untested(rows) else "iteration"


def _submitted_untested(rows: ExperimentDetails) -> bool:
    """Whether it ended with a program that no iteration tested, or without a program."""
    has_result = rows.experiment.outcome in ("solved", "unsolved")
    return has_result and rows.experiment.code not in {iteration.code for iteration in rows.iterations}


def _seconds(calls: Sequence[CallRow]) -> float | None:
    """Unknown if a call of an imported benchmark has no time."""
    return known_sum(call.seconds if call.state == "finished" else call.seconds or 0.0 for call in calls)


def _cost(calls: Sequence[CallRow]) -> float | None:
    return known_sum([0.0, *(call.cost_usd for call in calls if call.state == "finished" or call.cost_usd is not None)])


Naming = Callable[[ExperimentDetails], Collection[str]]
"""Maps an experiment to the SHA-256 of the wanted texts."""


@dataclass(frozen=True, slots=True)
class Several:
    """Several experiments; ``texts``: by SHA-256."""

    details: tuple[ExperimentDetails, ...]
    texts: Mapping[str, str]


def several(index: Index, experiments: Iterable[str], named: Naming) -> Several:
    """Everything about the experiments of these ids, read at one moment, with the texts that ``named`` returns for
    them.

    A text that no journal holds is left out. Raises UnknownNameError. Other readers wait meanwhile: ask for few.
    """
    several = tuple(details(index, experiment) for experiment in experiments)
    return Several(several, texts(index, {text for experiment in several for text in named(experiment)}))


def details(index: Index, experiment: str) -> ExperimentDetails:
    """Everything about the experiment of that id. Raises UnknownNameError."""
    con = index.con
    scored = scores(con, experiment)
    rows = ExperimentDetails(
        index.writers.shown(row_of(con, experiment), in_effect(con)),
        iterations(con, experiment),
        calls(con, experiment),
        notes(con, experiment),
        scored,
        {score.code: text(con, score.code) for score in scored},
    )
    return replace(rows, steps=steps(rows))


def iterations(con: DuckDBPyConnection, experiment: str) -> list[IterationRow]:
    """The iterations of an experiment, in order."""
    sql = "select * from iterations where experiment = ? order by iteration"
    return records(con, IterationRow, sql, [experiment])


def calls(con: DuckDBPyConnection, experiment: str) -> list[CallRow]:
    """The calls of an experiment, in order, failed attempts too."""
    return records(con, CallRow, "select * from calls where experiment = ? order by ordinal, attempt", [experiment])


def notes(con: DuckDBPyConnection, experiment: str) -> list[NoteRow]:
    """The notes of an experiment, in order."""
    return records(con, NoteRow, "select * from notes where experiment = ? order by ordinal", [experiment])


def scores(con: DuckDBPyConnection, experiment: str) -> list[ScoreRow]:
    """The scored candidates of an experiment, in the order they were scored."""
    return records(con, ScoreRow, 'select * from scores where experiment = ? order by "at", code', [experiment])


def text(con: DuckDBPyConnection, sha256: str) -> str:
    """The text of this hash. Raises DataError."""
    row = con.execute("select text from texts where sha256 = ?", [sha256]).fetchone()
    if row is None:
        raise DataError(
            f"No journal contains the text with the SHA-256 {sha256[:12]}…. Restore the missing journal, then run "
            "`koderz reindex`."
        )
    return str(row[0])


def texts(index: Index, hashes: Iterable[str]) -> Mapping[str, str]:
    """SHA-256 -> text; texts that no journal holds are left out."""
    sql = "select sha256, text from texts where sha256 in (select unnest(?))"
    return {str(sha256): str(text) for sha256, text in index.con.execute(sql, [list(hashes)]).fetchall()}
