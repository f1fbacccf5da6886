"""The counts of ``benchmarks/chaos.py``: the content of a journal at a kill, and later losses and repeated calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from calls_server import key

from koderz_core import Workspace
from koderz_core.events import CallFinished, CallStarted, CandidateScored, CodeTested, ExperimentFinished
from koderz_core.journal import read_all
from koderz_core.records import Verdict

Told = dict[object, object]


@dataclass(slots=True)
class Standing:
    """The content of a journal: outcomes of experiments, keys of answered calls, verdicts of programs.

    ``again``: calls that were started although they had been answered. ``seconds``: from the first to the last line;
    ``opened``: whether there is any line.
    """

    ends: dict[str, ExperimentFinished] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    verdicts: defaultdict[str, Told] = field(default_factory=lambda: defaultdict(dict))
    again: int = 0
    opened: bool = False
    seconds: float = 0.0


def standing(journal: Path) -> Standing:
    """Of a journal that may not exist yet. Raises JournalError for one that cannot be read."""
    found, begun, answered = Standing(), dict[object, str](), set[object]()
    began: float | None = None
    for entry in read_all(journal) if journal.exists() else ():
        began = began or entry.at
        found.opened, found.seconds = True, entry.at - began
        name, step = entry.experiment or "", (entry.experiment, entry.ordinal)
        match event := entry.event:
            case CallStarted():
                begun[step] = key(((message.role, message.text) for message in event.messages), event.seed)
                found.again += step in answered
            case CallFinished():
                found.answered.add(begun[step])
                answered.add(step)
            case CodeTested():
                found.verdicts[name][entry.ordinal] = (event.code, _said(event.verdict))
            case CandidateScored():
                found.verdicts[name][event.code] = (_said(event.gate), _said(event.held_out))
            case ExperimentFinished():
                found.ends[name] = event
    found.ends = {name: end for name, end in found.ends.items() if end.outcome != "cancelled"}
    return found


def lost(before: Standing, after: Standing) -> list[str]:
    """Experiments whose result is missing now, or differs."""
    return [name for name, end in before.ends.items() if after.ends.get(name) != end]


def repeated(before: Standing, seen: Iterable[str]) -> list[str]:
    """Requests that a server received although their answers were in the journal."""
    return [key for key in seen if key in before.answered]


def different(killed: Standing, calm: Standing, totals: Told, calm_totals: Told) -> Iterator[str]:
    """Experiments whose verdict, final program or total differs from the undisturbed benchmark."""
    for name in calm.ends | killed.ends:
        ends = [replace(state.ends[name], seconds=0.0) if name in state.ends else None for state in (killed, calm)]
        verdicts = killed.verdicts[name] != calm.verdicts[name]
        if verdicts or ends[0] != ends[1] or totals.get(name) != calm_totals.get(name):
            yield name


def totals(workspace: Workspace, benchmark: str) -> Told:
    """The totals of each experiment in the index, without those that depend on the clock."""
    return {
        row.id: (
            row.outcome,
            row.code,
            row.failure,
            row.iterations,
            row.calls,
            row.input_tokens,
            row.output_tokens,
            row.gate_tests_passed,
            row.held_out_tests_passed,
        )
        for row in workspace.results.experiments(benchmark)
    }


def index_drifted(workspace: Workspace) -> bool:
    """Whether the index that was updated in steps differs from a rebuilt one."""
    grown = workspace.results.store.dump()
    workspace.results.reindex()
    return workspace.results.store.dump() != grown


def _said(verdict: Verdict | None) -> object:
    return None if verdict is None else (verdict.marks, verdict.error, verdict.completed)
