"""The files of an experiment: prompts, answers, programs and test results, written into a folder or one zip.

In texts that koderz composes (prompts, results, guidance) foreign text is indented, or follows a line that states its
length, so that it cannot be mistaken for koderz' own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from textwrap import indent
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from koderz_core.errors import DataError
from koderz_core.files import replace_file
from koderz_core.records import Sampling, TestFailure, Verdict
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import CallRow, ExperimentDetails, IterationRow, Step
from koderz_core.report.formats import SHARED, duration, isolation, money, note_title, plain
from koderz_core.report.patches import is_patch
from koderz_core.strategies import facts_of

_ID = re.compile(r"exp_[0-9a-f]{12}")
MARGIN = "    "
SEPARATE = ("checkpoint_reviewed", "turn_spoken", "consensus_reached")
"""Notes that have files of their own."""
HELD_OUT = "held-out tests (no model saw these tests; they ran after the experiment ended)"


def write(files: Iterable[DumpFile], folder: Path) -> None:
    """Write them into ``folder``, which is created if missing; files of the same names are replaced.

    Raises DataError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            replace_file(folder / file.name, file.content, private=False, durable=False)
    except OSError as error:
        raise DataError(
            f"The files cannot be written into {folder} ({error.strerror}). Check the permissions of this folder and "
            "the free space on its disk, or give another folder."
        ) from error


def zipped(files: Iterable[DumpFile]) -> bytes:
    """A zip of them; the same files always give the same bytes."""
    buffer = BytesIO()
    write_zip(files, buffer)
    return buffer.getvalue()


def write_zip(files: Iterable[DumpFile], target: BinaryIO) -> None:
    """Write them into an open file as a zip."""
    with ZipFile(target, "w") as archive:
        for file in files:
            archive.writestr(ZipInfo(file.name), file.content, ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class DumpFile:
    """One file; its name is a relative path of safe characters, of koderz' own words and ids."""

    name: str
    content: bytes


def files_of(details: ExperimentDetails, texts: Mapping[str, str]) -> tuple[DumpFile, ...]:
    """The files of an experiment, step by step; ``texts``: by SHA-256, all that ``text_hashes`` returns.

    ``_raw.txt``, ``_code.py`` (``_code.diff`` for a patch) and ``_spec.txt`` are the text of a model, byte for byte
    (UTF-8). In ``_prompt.txt``, ``_result.txt`` and ``_guidance.txt`` a mark replaces control characters. Raises
    DataError for an invalid id.
    """
    experiment = details.experiment.id
    if not _ID.fullmatch(experiment):  # it comes from a journal, which is untrusted
        raise DataError(
            f"{experiment!r} is not a valid experiment id, so koderz does not use it in file names. "
            "Repair the journal that contains this id."
        )
    files = (file for step in details.steps for file in _files(details, step, texts))
    return tuple(DumpFile(f"{experiment}_{name}", text.encode(errors="replace")) for name, text in files)


def text_hashes(details: ExperimentDetails) -> set[str]:
    """The SHA-256 of every text in the files of an experiment."""
    calls = [call for step in details.steps for call in step.calls]
    sent = {message.text for call in calls for message in call.messages}
    return sent | {call.text for call in calls if call.text} | {step.program for step in details.steps if step.program}


def _files(details: ExperimentDetails, step: Step, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The name after the experiment's id, and the content."""
    stem = _stem(details, step)
    if step.calls:
        yield f"{stem}_prompt.txt", prompt(step, texts)
    replies = [texts[call.text] for call in step.calls if call.text]
    for place, reply in enumerate(replies, 1):
        yield f"{stem}_raw{f'_{place}' if len(replies) > 1 else ''}.txt", reply
    if step.program:
        yield f"{stem}_code.{'diff' if is_patch(texts[step.program]) else 'py'}", texts[step.program]
    if step.iteration or step.kind == "answer":
        yield f"{stem}_result.txt", result(details, step)
    if step.note and step.kind in ("spec", "turn", "consensus"):
        yield f"{stem}.txt", step.note.text
    if step.note and step.kind == "checkpoint":
        yield f"{stem}_guidance.txt", guidance(details, step.note, replies)


def _stem(details: ExperimentDetails, step: Step) -> str:
    if step.kind == "checkpoint":
        return f"checkpoint{step.number:02d}"
    if step.kind in ("turn", "consensus"):
        return f"{step.kind}{step.number:02d}"
    if step.kind == "spec":
        return "spec" if step.number == 1 else f"spec{step.number:02d}"
    if not facts_of(details.experiment.strategy).tests_programs:
        return "zeroshot"
    return "answer" if step.kind == "answer" else f"iter{step.number:03d}"


def prompt(step: Step, texts: Mapping[str, str]) -> str:
    """Every call of a step with the messages that were sent, including failed attempts."""
    return "\n".join(line for call in step.calls for line in (*_head(call), *_messages(call, texts)))


def result(details: ExperimentDetails, step: Step) -> str:
    """The test results of a step's program: the gate tests, then the held-out tests if they have run."""
    row = details.experiment
    lines = [_line(f"{row.id} · {row.problem} · {row.label} · {step.kind} {step.number}")]
    lines += [_line(note_title(note, details.notes)) for note in details.notes if note.kind not in SEPARATE]
    score = next((score for score in details.scores if step.program and score.code == step.program), None)
    gate = step.iteration or (score.gate if score else None)
    held_out = score.held_out if score else None
    if step.program is None:
        lines.append("no program was found in the answer" + (f" ({row.failure})" if step.kind == "answer" else ""))
    if gate:
        lines += ["", *_verdict("gate tests", gate)]
    if held_out:
        lines += ["", *_verdict(HELD_OUT, held_out)]
    return "\n".join([*lines, ""])


def guidance(details: ExperimentDetails, note: NoteRow, replies: Sequence[str]) -> str:
    """Why a review was due, what of it was passed on, its sections, and the whole review."""
    parts = [("guidance that the next prompts contain", note.text)]
    for name, text in note.sections.items():
        parts.append((f"section {name}, {'given to the coder' if name in note.passed_on else 'withheld'}", text))
    parts += [("the whole review", reply) for reply in replies]
    head = (_line(note_title(note, details.notes)), "")
    return "\n".join([*head, *(line for title, text in parts for line in _part(title, text))])


def _head(call: CallRow) -> Iterator[str]:
    used = f", {_temperature(call.honoured)} used" if call.honoured else ""
    temperature = f"temperature {_temperature(call.sampling)} requested{used}"
    end = f"finish reason {call.finish}" if call.state == "finished" else call.state
    end = "no answer yet" if call.state == "started" else end
    spent = f" · {duration(call.seconds)} · {money(call.cost_usd)}" if call.state == "finished" else ""
    spent += f" · answer reused from {call.cached_from} (response cache)" if call.cached_from else ""
    if call.state in ("failed", "interrupted") and call.cost_usd is not None:
        spent = f" · {money(call.cost_usd)}"
    attempt = f", attempt {call.attempt}" if call.attempt > 1 else ""
    yield _line(f"=== {call.role}{attempt} · {call.model} · {temperature} · {end}{spent}")
    if call.message:
        yield _margin(call.message)


def _temperature(sampling: Sampling) -> str:
    effort = f", effort {sampling.effort}" if sampling.effort else ""
    return f"{'default' if sampling.temperature is None else sampling.temperature}{effort}"


def _messages(call: CallRow, texts: Mapping[str, str]) -> Iterator[str]:
    for place, message in enumerate(call.messages, 1):
        yield from _part(f"message {place} of {len(call.messages)}, {message.role}", texts[message.text])


def _part(title: str, text: str) -> tuple[str, ...]:
    return f"--- {_line(title)} ({len(text)} characters)", plain(text), ""


def _verdict(kind: str, verdict: IterationRow | Verdict) -> Iterator[str]:
    yield f"{'passed' if verdict.passed else 'not passed'}: {verdict.tests_passed} of {verdict.tests_total} {kind}"
    yield _line(f"{duration(verdict.seconds)} · isolation {isolation(verdict.isolation, '')}")
    if verdict.shared:
        yield SHARED
    if verdict.error:
        yield f"error class: {verdict.error}"
    if verdict.message:
        yield f"message:\n{_margin(verdict.message)}"
    if verdict.marks:
        yield _line(f"tests in order (P = passed, F = failed, - = not reached): {verdict.marks}")
    for failure in verdict.failures:
        yield from _failure(failure, verdict.test_seconds)
    known = {failure.index for failure in verdict.failures}
    if more := [place for place, mark in enumerate(verdict.marks) if mark == "F" and place not in known]:
        yield f"\nother failed tests, without stored details: {', '.join(str(place + 1) for place in more)}"


def _failure(failure: TestFailure, seconds: Sequence[float]) -> Iterator[str]:
    took = f", {duration(seconds[failure.index])}" if failure.index < len(seconds) else ""
    yield f"\ntest {failure.index + 1} failed{took}"
    parts = {
        "call": failure.source,
        "returned": failure.actual,
        "expected": failure.expected,
        "message": failure.message,
    }
    yield from (f"{title}:\n{_margin(text)}" for title, text in parts.items() if text)


def _line(text: str) -> str:
    return plain(" ".join(text.split()))


def _margin(text: str) -> str:
    return indent(plain(text), MARGIN, lambda _: True)
