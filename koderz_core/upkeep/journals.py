"""The files of a benchmark: repair of damaged journals, pins, and removal.

A repair takes out unreadable lines and keeps a copy of the file as it was. A lost line may have held a price or a
result, so every experiment that was running at that place, or that needs a lost text, is taken out as a whole, and
`koderz resume` runs it again. All other experiments stay unchanged. A pin is an empty file next to the journal.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from koderz_core.errors import JournalError, UsageError
from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkDecided,
    BenchmarkOpened,
    CallStarted,
    ExperimentFinished,
    ExperimentStarted,
    TextStored,
    texts_of,
)
from koderz_core.files import TEMPORARY, replacement, sync
from koderz_core.journal import Journal, acquire, beside, dead_writer, holder
from koderz_core.journal.checking import Line, check, lines, reason

PIN_SUFFIX = ".pin"
BESIDE = (".control", ".part", PIN_SUFFIX)
COPY_SECONDS = 86_400.0  # an export that sorts on the disk may need its folder for hours
MOST_LINES = 5  # whose numbers are shown
_EXPERIMENT = re.compile(rb"exp_[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done to something damaged. ``sound``: whether it is usable now; if not, ``message`` says why.

    ``skipped``: another process writes it, so nothing was checked or changed.
    """

    subject: str
    message: str
    sound: bool = True
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class _LineInfo:
    """The experiment of a line, and whether it starts or ends it. ``named``: the ids in a corrupt line."""

    experiment: str | None
    starts: bool
    ends: bool
    corrupt: bool
    named: frozenset[str]


def repair_journals(folder: Path) -> Iterator[Repair]:
    """Repair every journal of a folder that no process writes, and remove leftovers of processes that are gone."""
    yield from _repair_all(folder, _repair_lines)
    for stem in sorted({left.stem for suffix in ("lock", "control") for left in folder.glob(f"*.{suffix}")}):
        yield from _remove_leftovers(folder / f"{stem}.jsonl")


def repair_annotations(folder: Path) -> Iterator[Repair]:
    """Repair every journal of labels and notes in a folder: only its unreadable lines are lost."""
    for repair in _repair_all(folder, _remove_corrupt_lines):
        yield replace(repair, subject=f"labels of {repair.subject}")


def _repair_all(folder: Path, repair_lines: Callable[[Path], Repair]) -> Iterator[Repair]:
    for path in sorted(folder.glob("*.jsonl")):
        try:
            yield from _repair(path, repair_lines)
        except (JournalError, OSError) as error:
            why = reason(error) if isinstance(error, OSError) else error
            yield Repair(path.stem, f"cannot be repaired: {why}", sound=False)


def _remove_leftovers(journal: Path) -> Iterator[Repair]:
    """Remove the lock and the control file of a journal that no longer exists."""
    if journal.exists() or holder(journal) is not None:
        return
    with acquire(journal):
        journal.with_suffix(".control").unlink(missing_ok=True)
        beside(journal).unlink(missing_ok=True)
    yield Repair(journal.stem, "no longer has a journal; its lock and control file were removed")


def _repair(path: Path, repair_lines: Callable[[Path], Repair]) -> Iterator[Repair]:
    if (pid := holder(path)) is not None:
        writer = f"process {pid}" if pid else "an unknown process"
        yield Repair(path.stem, f"is being written by {writer} and was left unchanged", skipped=True)
        return
    condition = check(path)
    if condition.later:
        message = "was written by a later version of koderz and was left unchanged: upgrade koderz"
        yield Repair(path.stem, message, sound=False)
        return
    if condition.corrupt:
        yield repair_lines(path)
        return
    actions, dead = [], dead_writer(path)
    if dead:
        actions.append(f"was locked by process {dead}, which has ended, so the lock was released")
    if condition.torn:
        size = f"{condition.torn} byte{'' if condition.torn == 1 else 's'}"
        actions.append(f"had an incomplete last line ({size}), which was removed")
    if actions:
        Journal(path).close()  # which does both
        yield Repair(path.stem, "; it ".join(actions))


def _repair_lines(path: Path) -> Repair:
    """Rewrite the journal without lines that are lost or may be wrong. An exception leaves the journal unchanged."""
    with acquire(path):
        infos = [_info(line) for line in lines(path)]
        first = next(lines(path), None)
        if first is None or first.entry is None or not isinstance(first.entry.event, BenchmarkOpened):
            message = "has lost its first line, which contains the plan: restore the journal from a backup"
            return Repair(path.stem, message, sound=False)
        lost = _suspects(infos) | _lacking_texts(path)
        before = _rewrite(path, lambda line: _stays(line, lost))
    again = f". Experiments that may be affected: {len(lost)}. To run them again: koderz resume {path.stem}"
    removed = _removed([number for number, info in enumerate(infos, 1) if info.corrupt])
    return Repair(path.stem, f"{removed}{again if lost else ''}. koderz kept the original file as {before.name}")


def _remove_corrupt_lines(path: Path) -> Repair:
    with acquire(path):
        corrupt = [number for number, line in enumerate(lines(path), 1) if line.corrupt]
        before = _rewrite(path, lambda line: not line.corrupt)
    return Repair(path.stem, f"{_removed(corrupt)}. koderz kept the original file as {before.name}")


def _rewrite(path: Path, stays: Callable[[Line], bool]) -> Path:
    """Rewrite a journal with only some of its lines, and return the file as it was."""
    names = (path.with_name(f"{path.name}.damaged{f'-{number}' if number > 1 else ''}") for number in count(1))
    before = next(name for name in names if not name.exists())
    with replacement(path, part=path.with_suffix(".part")) as file:
        file.writelines(line.content for line in lines(path) if stays(line))
        sync(file)
        shutil.copystat(path, file.name)  # the time of the last write is the age of the benchmark
        _keep_original(path, before)
    return before


def _keep_original(path: Path, before: Path) -> None:
    """Give a file a second name, which stays when another file replaces the first one."""
    try:
        before.hardlink_to(path)
    except OSError:  # a file system without hard links, such as exFAT
        with replacement(before) as copy, path.open("rb") as original:
            shutil.copyfileobj(original, copy)
            sync(copy)
            shutil.copystat(path, copy.name)


def _removed(corrupt: Sequence[int]) -> str:
    """``had 2 unreadable lines (lines 3, 8), now removed``; ``corrupt``: their numbers."""
    more = f" and {len(corrupt) - MOST_LINES} more" if len(corrupt) > MOST_LINES else ""
    shown = ", ".join(map(str, corrupt[:MOST_LINES])) + more
    several = "lines" if len(corrupt) > 1 else "line"
    return f"had {len(corrupt)} unreadable {several} ({several} {shown}), now removed"


def _info(line: Line) -> _LineInfo:
    event = line.entry.event if line.entry else None
    named = frozenset(map(bytes.decode, _EXPERIMENT.findall(line.content))) if line.corrupt else frozenset[str]()
    experiment = line.entry.experiment if line.entry else None
    if isinstance(event, ExperimentStarted):
        experiment = event.experiment.id
    starts, ends = isinstance(event, ExperimentStarted), isinstance(event, ExperimentFinished)
    return _LineInfo(experiment, starts, ends, line.corrupt, named)


def _suspects(infos: Sequence[_LineInfo]) -> set[str]:
    """Experiments that may have owned a corrupt line: those that it names, and those that were running there."""
    known = {info.experiment for info in infos if info.experiment}
    suspects, before, after = set[str](), set[str](), set[str]()
    for info in infos:
        _follow(info, before, over=info.ends)
        suspects |= (before | info.named) & known if info.corrupt else set()
    for info in reversed(infos):
        _follow(info, after, over=info.starts)
        suspects |= after & known if info.corrupt else set()
    return suspects


def _lacking_texts(path: Path) -> set[str]:
    """Experiments with an answer, program or memory whose text is lost.

    Prompts do not count: the experiment that first sent the lost prompt runs again, and stores it again.
    """
    stored, naming = set[str](), defaultdict[str, set[str]](set)
    for entry in (line.entry for line in lines(path) if line.entry):
        if isinstance(entry.event, TextStored):
            stored.add(entry.event.sha256)
        elif entry.experiment and not isinstance(entry.event, CallStarted):
            for text in texts_of(entry.event):
                naming[text].add(entry.experiment)
    return {experiment for text in naming.keys() - stored for experiment in naming[text]}


def _follow(info: _LineInfo, running: set[str], *, over: bool) -> None:
    if info.experiment:
        (running.discard if over else running.add)(info.experiment)


def _stays(line: Line, lost: set[str]) -> bool:
    if line.entry is None:
        return not line.corrupt
    event = line.entry.event
    if isinstance(event, ExperimentStarted):
        return event.experiment.id not in lost
    if isinstance(event, BenchmarkClosed | BenchmarkDecided):
        return not lost
    return line.entry.experiment not in lost


def require_removable(journal: Path) -> None:
    """Raise UsageError if the benchmark of that journal runs or is pinned, JournalError if that is unknown."""
    benchmark = journal.stem
    if (pid := holder(journal)) is not None:
        process = f"process {pid}" if pid else "another process"
        raise UsageError(f"{benchmark} is being run by {process}. Stop the benchmark first: koderz stop {benchmark}")
    if is_pinned(journal):
        raise UsageError(
            f"{benchmark} is pinned, so it is not deleted. To allow the deletion: koderz unpin {benchmark}"
        )


def size_in_bytes(journal: Path) -> int:
    """The size of the files that ``remove`` deletes."""
    return sum(path.stat().st_size for path in _files(journal) if path.exists())


def remove(journal: Path) -> None:
    """Delete the files of a benchmark, including the originals of repaired journals.

    Raises as ``require_removable``, also if the benchmark has just started.
    """
    require_removable(journal)
    try:
        with acquire(journal):
            for path in _files(journal):
                path.unlink(missing_ok=True)
            beside(journal).unlink(missing_ok=True)  # a process that waits for it sees that and creates a new one
    except OSError as error:
        raise JournalError(f"{journal.name} cannot be deleted: {reason(error)}") from error


def _files(journal: Path) -> list[Path]:
    damaged = journal.parent.glob(f"{journal.name}.damaged*")
    return [journal, *damaged, *(journal.with_suffix(suffix) for suffix in BESIDE)]


def is_pinned(journal: Path) -> bool:
    """Whether the benchmark of that journal is pinned."""
    return journal.with_suffix(PIN_SUFFIX).exists()


def set_pin(journal: Path, *, pinned: bool) -> None:
    """Pin or unpin the benchmark of that journal. Idempotent. Raises JournalError."""
    pin = journal.with_suffix(PIN_SUFFIX)
    try:
        if pinned:
            pin.touch()
        else:
            pin.unlink(missing_ok=True)
    except OSError as error:
        raise JournalError(f"The pin of {journal.stem} cannot be changed: {reason(error)}") from error


def remove_left_copies(home: Path, now: float) -> Iterator[Repair]:
    """Remove temporary folders that did not change for a day. ``now``: seconds since 1970."""
    left = (path for folder in (home, home / "workbench") for path in folder.glob(f"{TEMPORARY}*") if path.is_dir())
    for folder in sorted(left):
        try:
            if now - folder.stat().st_mtime > COPY_SECONDS:
                shutil.rmtree(folder)
                yield Repair(folder.name, "was left by a killed process and was removed")
        except OSError as error:
            message = f"was left by a killed process and cannot be removed: {reason(error)}"
            yield Repair(folder.name, message, sound=False)
