"""An experiment as files to read and to keep: what was sent, what came back, the program, what the tests said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from koderz_core.errors import DataError
from koderz_core.export.dump_wording import guidance, prompt, result
from koderz_core.records.rows import ExperimentDetails, Step
from koderz_core.strategies import UNTESTED

_ID = re.compile(r"exp_[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class DumpFile:
    """One file, its name made of koderz's own words and an experiment's id."""

    name: str
    content: bytes


def files_of(details: ExperimentDetails, texts: Mapping[str, str]) -> tuple[DumpFile, ...]:
    """The files of an experiment, step by step; ``texts``: by SHA-256, all that ``named`` gives.

    ``_raw.txt``, ``_code.py`` and ``_spec.txt`` are what a model wrote, byte for byte (UTF-8); where control characters
    stood, ``_prompt.txt``, ``_result.txt`` and ``_guidance.txt`` have a mark. Raises DataError for an id that is none.
    """
    experiment = details.experiment.id
    if not _ID.fullmatch(experiment):  # it comes from a journal, and anybody may have written that
        raise DataError(
            f"{experiment!r} is no id of an experiment, so no file can be named after it. Mend its journal."
        )
    made = (file for step in details.steps for file in _files(details, step, texts))
    return tuple(DumpFile(f"{experiment}_{name}", text.encode(errors="replace")) for name, text in made)


def named(details: ExperimentDetails) -> set[str]:
    """The SHA-256 of every text that the files of an experiment hold."""
    calls = [call for step in details.steps for call in step.calls]
    sent = {message.text for call in calls for message in call.messages}
    return sent | {call.text for call in calls if call.text} | {step.program for step in details.steps if step.program}


def _files(details: ExperimentDetails, step: Step, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name behind the experiment's id, and content."""
    stem = _stem(details, step)
    if step.calls:
        yield f"{stem}_prompt.txt", prompt(step, texts)
    replies = [texts[call.text] for call in step.calls if call.text]
    for place, reply in enumerate(replies, 1):
        yield f"{stem}_raw{f'_{place}' if len(replies) > 1 else ''}.txt", reply
    if step.program:
        yield f"{stem}_code.py", texts[step.program]
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
    if details.experiment.strategy in UNTESTED:
        return "zeroshot"
    return "answer" if step.kind == "answer" else f"iter{step.number:03d}"
