"""The journal of a person's labels and notes on the experiments of a benchmark.

It has the name and the format of the benchmark's journal, in the folder ``labels``. Each line is one change, and the
last change counts. The journal of the benchmark, and all that follows from it, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from koderz_core.errors import JournalError
from koderz_core.events import Entry, ExperimentLabelled, ExperimentNoted, decode
from koderz_core.journal import Journal
from koderz_core.journal.checking import reason
from koderz_core.records.annotations import Annotation


def annotations_folder(journals: Path) -> Path:
    """The folder of annotations beside the folder of ``journals``."""
    return journals.parent / "labels"


def annotations_file(journal: Path) -> Path:
    """The journal of annotations of the benchmark with that ``journal``."""
    return annotations_folder(journal.parent) / journal.name


def record(journal: Path, entries: Iterable[Entry]) -> None:
    """Record changes; they are on the disk afterwards. ``journal``: of the benchmark. Raises JournalError."""
    written = Journal(annotations_file(journal))
    try:
        written.append(*entries)
    finally:
        written.close()


def read(path: Path) -> tuple[Annotation, ...]:
    """The annotations in effect, the oldest first. Lines that cannot be read count for nothing. Raises JournalError."""
    try:
        return in_effect(path.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise JournalError(f"The labels in {path} cannot be read: {reason(error)}") from error


def complete_lines(path: Path) -> bytes:
    """The content of a file without a torn last line. Raises OSError."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def in_effect(content: bytes) -> tuple[Annotation, ...]:
    """As ``read``, of the content of a file."""
    found: dict[tuple[str, str], Annotation] = {}
    for line in content.split(b"\n")[:-1]:
        try:
            entry = decode(line)
        except JournalError:
            continue
        if entry is not None and entry.experiment is not None:
            _apply(entry, entry.experiment, found)
    return tuple(found.values())


def entry_of(annotation: Annotation) -> Entry:
    """The change that makes an annotation."""
    is_label = annotation.kind == "label"
    event = ExperimentLabelled(annotation.text) if is_label else ExperimentNoted(annotation.text)
    return Entry(annotation.at, event, annotation.experiment)


def _apply(entry: Entry, experiment: str, found: dict[tuple[str, str], Annotation]) -> None:
    match entry.event:
        case ExperimentLabelled(label, removed):
            found.pop((experiment, label), None)
            if not removed:
                found[experiment, label] = Annotation(experiment, "label", label, entry.at)
        case ExperimentNoted(note):
            found.pop((experiment, ""), None)
            if note:
                found[experiment, ""] = Annotation(experiment, "note", note, entry.at)
