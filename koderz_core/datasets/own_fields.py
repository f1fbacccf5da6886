"""The fields that all lines of a user's own file have, and how pydantic checks them.

The description of a field is the cure for its faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from koderz_core.datasets.programs import iso_date
from koderz_core.errors import DataError
from koderz_core.input_files import surrogate_in
from koderz_core.records import OF_DATASETS, Facts

Complaint = tuple[str, str, str]
"""The field, what is wrong with it, what to do. The field is empty if the whole line is wrong."""


def require(holds: Callable[[str], object], fault: str) -> AfterValidator:
    """A validator of text. Its ValueError names ``fault`` and quotes the beginning of the text."""

    def checked(text: str) -> str:
        if not holds(text):
            raise ValueError(f"{fault}: {text[:40]!r}")
        return text

    return AfterValidator(checked)


def _is_day(text: str) -> bool:
    try:
        return iso_date(text, "date") == text
    except DataError:
        return False


def _text_of(value: object) -> object:
    """The text of a number; anything else as it is."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Text = Annotated[str, require(lambda text: not surrogate_in(text), "contains a lone surrogate (half of a UTF-16 pair)")]
SomeText = Annotated[Text, require(str.strip, "is empty")]
_LABEL = "write a short text, such as 'graphs'"
Label = Annotated[
    Text,
    require(lambda text: len(text) <= 120 and text.isprintable(), "is not a printable text of at most 120 characters"),
]


class CommonRow(BaseModel):
    """The fields of every kind of problem."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)

    task_id: Annotated[
        str, require(lambda text: re.fullmatch(r"[^\s,]{1,120}", text) and text.isprintable(), "is not a valid id")
    ] = Field(
        description="give the problem an id of at most 120 characters, without whitespace or commas, such as 'mine/1'"
    )
    kind: str = Field(default="function", description=f"write one of {', '.join(OF_DATASETS)}")
    prompt: SomeText = Field(description="write the task for the model, ideally a signature with a docstring")
    canonical_solution: Text = Field(
        default="", description="write the continuation of the prompt or a whole program, or omit the field"
    )
    licence: Annotated[
        str, require(re.compile(r"[A-Za-z0-9 .,+()/-]{0,60}").fullmatch, "is not a valid licence name")
    ] = Field(
        default="",
        description="write a name of at most 60 characters (letters, digits, spaces and the characters . , + ( ) / -), "
        "such as 'MIT'",
    )
    difficulty: Annotated[Label, BeforeValidator(_text_of)] = Field(
        default="", description="write a short text or a number, such as 'hard'"
    )
    topic: Label = Field(default="", description=_LABEL)
    date: Annotated[str, require(_is_day, "is not a date")] = Field(
        default="", description="write the day of publication, such as '2024-05-31'"
    )
    tags: list[Label] = Field(default=[], description="write a list of short texts, such as ['graphs', 'easy']")

    @property
    def facts(self) -> Facts:
        return Facts(self.difficulty, self.topic, self.date, tuple(self.tags))
