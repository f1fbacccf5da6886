"""Mending journals: what cannot be read is taken out, and the file as it was is kept beside.

A line that is lost may have held a price or a result, so an experiment that was at work where it stood would count
with wrong numbers: it is taken out whole, and `koderz resume` does it again. All others stay as they are.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.events import BenchmarkClosed, BenchmarkOpened, ExperimentFinished, ExperimentStarted
from koderz_core.files import replacement, sync
from koderz_core.journal import Journal, acquire, beside, dead_writer, holder
from koderz_core.journal.checking import Line, check, lines, reason

MOST_LINES = 5  # shown by their numbers
_EXPERIMENT = re.compile(rb"exp_[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Mended:
    """What was done to something that was broken. ``whole``: whether it is sound now; if not, ``said`` ends in why."""

    subject: str
    said: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a line says of experiments. ``named``: ids that stand in a corrupt one."""

    experiment: str | None
    begins: bool
    ends: bool
    corrupt: bool
    named: frozenset[str]


def mend_journals(folder: Path) -> Iterator[Mended]:
    """Mend every journal of a folder that nobody writes now, and clear away what the dead have left beside them."""
    for path in sorted(folder.glob("*.jsonl")):
        try:
            yield from _mend(path)
        except (JournalError, OSError) as error:
            yield Mended(path.stem, _what(error), whole=False)
    for stem in sorted({left.stem for suffix in ("lock", "control") for left in folder.glob(f"*.{suffix}")}):
        yield from _clear(folder / f"{stem}.jsonl")


def _clear(journal: Path) -> Iterator[Mended]:
    """Remove the lock and the wishes of a journal that is gone."""
    if journal.exists() or holder(journal) is not None:
        return
    with acquire(journal):
        journal.with_suffix(".control").unlink(missing_ok=True)
        beside(journal).unlink(missing_ok=True)
    yield Mended(journal.stem, "has no journal any more; what stood beside it was removed")


def _mend(path: Path) -> Iterator[Mended]:
    if (pid := holder(path)) is not None:
        yield Mended(path.stem, f"is being written by process {pid or 'unknown'} and was left alone")
        return
    condition = check(path)
    if condition.later:
        yield Mended(path.stem, "was written by a later koderz and was left alone: upgrade koderz", whole=False)
        return
    if condition.corrupt:
        yield _mend_lines(path)
        return
    said, dead = [], dead_writer(path)
    if dead:
        said.append(f"the lock of process {dead}, which is gone, was opened")
    if condition.torn:
        said.append(f"the torn last line ({condition.torn} bytes) was cut off")
    if said:
        Journal(path).close()  # which does both
        yield Mended(path.stem, " and ".join(said))


def _mend_lines(path: Path) -> Mended:
    """Write the journal anew without what is lost or may be wrong. On JournalError and OSError it is as before."""
    with acquire(path):
        seen = [_seen(line) for line in lines(path)]
        if not _begins_well(path):
            return Mended(
                path.stem, "its first line, which says what was planned, is lost: restore it from a backup", whole=False
            )
        lost = _suspects(seen) | _unfinished(seen)
        before = _free_name(path)
        _rewrite(path, (line for line in lines(path) if _stays(line, lost)), before)
    corrupt = [str(number) for number, one in enumerate(seen, 1) if one.corrupt]
    shown = ", ".join(corrupt[:MOST_LINES]) + (f" and {len(corrupt) - MOST_LINES} more" if corrupt[MOST_LINES:] else "")
    again = f". Experiments to be done again, since that may be of them: {len(lost)} (koderz resume {path.stem})"
    said = f"what cannot be read was taken out (line {shown}){again if lost else ''}. As it was, it is {before.name}"
    return Mended(path.stem, said)


def _rewrite(path: Path, kept: Iterable[Line], before: Path) -> None:
    with replacement(path, part=path.with_suffix(".part")) as file:
        file.writelines(line.content for line in kept)
        sync(file)
        shutil.copystat(path, file.name)  # when it was last written to is how old it is
        before.hardlink_to(path)


def _seen(line: Line) -> _Seen:
    event = line.entry.event if line.entry else None
    named = frozenset(map(bytes.decode, _EXPERIMENT.findall(line.content))) if line.corrupt else frozenset[str]()
    experiment = line.entry.experiment if line.entry else None
    if isinstance(event, ExperimentStarted):
        experiment = event.experiment.id
    begins, ends = isinstance(event, ExperimentStarted), isinstance(event, ExperimentFinished)
    return _Seen(experiment, begins, ends, line.corrupt, named)


def _suspects(seen: Sequence[_Seen]) -> set[str]:
    """The experiments that a corrupt line may have been of: those it names, and those at work where it stands."""
    known = {line.experiment for line in seen if line.experiment}
    found, before, behind = set[str](), set[str](), set[str]()
    for one in seen:
        _follow(one, before, over=one.ends)
        found |= (before | one.named) & known if one.corrupt else set()
    for one in reversed(seen):
        _follow(one, behind, over=one.begins)
        found |= behind & known if one.corrupt else set()
    return found


def _unfinished(seen: Sequence[_Seen]) -> set[str]:
    """They may need a text that is lost."""
    at_work = set[str]()
    for line in seen:
        _follow(line, at_work, over=line.ends)
    return at_work


def _follow(one: _Seen, at_work: set[str], *, over: bool) -> None:
    if one.experiment:
        (at_work.discard if over else at_work.add)(one.experiment)


def _stays(line: Line, lost: set[str]) -> bool:
    if line.entry is None:
        return not line.corrupt
    event = line.entry.event
    if isinstance(event, ExperimentStarted):
        return event.experiment.id not in lost
    if isinstance(event, BenchmarkClosed):
        return not lost
    return line.entry.experiment not in lost


def _begins_well(path: Path) -> bool:
    first = next(lines(path), None)
    return first is not None and first.entry is not None and isinstance(first.entry.event, BenchmarkOpened)


def _free_name(path: Path) -> Path:
    taken = len([*path.parent.glob(f"{path.name}.damaged*")])
    return path.with_name(f"{path.name}.damaged{f'-{taken + 1}' if taken else ''}")


def _what(error: Exception) -> str:
    return f"cannot be mended: {reason(error)}" if isinstance(error, OSError) else f"cannot be mended: {error}"
