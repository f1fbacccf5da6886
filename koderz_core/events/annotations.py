"""Events of a person who labels experiments, in a journal of their own. What breaks a limit here cannot be decoded.

Texts of another person are hostile, so characters that are invisible or change the direction of text are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from msgspec import Meta

from koderz_core.errors import UsageError

MOST_LABEL, MOST_NOTE = 60, 2000
"""Characters of a text that koderz writes."""

_WIDER = 4  # times as long as that: a bundle masks parts of a text, and a mask may be longer than they are
_VISIBLE = r"\A[^\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]*\Z"
_VISIBLE_LINES = _VISIBLE.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f")


@dataclass(frozen=True, slots=True)
class ExperimentLabelled:
    """A person added a label to an experiment, or removed it."""

    kind: ClassVar[str] = "experiment_labelled"
    label: Annotated[str, Meta(min_length=1, max_length=_WIDER * MOST_LABEL, pattern=_VISIBLE)]
    removed: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentNoted:
    """A person wrote the note on an experiment, which replaces an earlier one; an empty text removes it."""

    kind: ClassVar[str] = "experiment_noted"
    note: Annotated[str, Meta(max_length=_WIDER * MOST_NOTE, pattern=_VISIBLE_LINES)]


def label_of(text: str) -> str:
    """The label that a person typed, with single spaces. Raises UsageError if it is not valid."""
    label = " ".join(text.split())
    if not 1 <= len(label) <= MOST_LABEL:
        raise UsageError(f"The label has {len(label)} characters. Use 1 to {MOST_LABEL} characters.")
    return _visible(label, "label", _VISIBLE)


def note_of(text: str) -> str:
    """The note that a person typed, with plain line ends. Raises UsageError if it is not valid."""
    note = "\n".join(text.splitlines()).strip()
    if len(note) > MOST_NOTE:
        raise UsageError(f"The note has {len(note)} characters. Use at most {MOST_NOTE} characters.")
    return _visible(note, "note", _VISIBLE_LINES)


def _visible(text: str, kind: str, pattern: str) -> str:
    if not re.search(pattern, text):
        raise UsageError(f"The {kind} contains a control character or another invisible character. Remove it.")
    return text
