"""What strategies say of themselves, read off their docstrings and fields: the one source of every description.

A docstring's paragraph that begins with ``Calls:`` says in its first sentence what an experiment costs in calls, and
after that where the strategy comes from. It stands in the class or, for all classes of a file, at its beginning.
"""

from __future__ import annotations

import re
import sys
from dataclasses import Field, dataclass
from inspect import cleandoc
from typing import Any

from koderz_core.strategies.parameters import ABOUT, CHOICES

_CALLS = re.compile(r"\bCalls:\s+(?P<calls>.+?[.!])(?:\s+(?P<source>[A-Z\"].*))?$")


@dataclass(frozen=True, slots=True)
class Description:
    """What a strategy does, in one line; what it costs in calls and where it comes from, empty if it does not say."""

    doc: str
    calls: str
    source: str


def describe(strategy: type) -> Description:
    """What a strategy says of itself. The text is its author's: shown as text, never obeyed."""
    own = _written(strategy)
    module = sys.modules.get(strategy.__module__)
    texts = (own, cleandoc(module.__doc__ or "") if module else "")
    paragraphs = (" ".join(part.split()).replace("``", "") for text in texts for part in text.split("\n\n"))
    told = next((found for one in paragraphs if (found := _CALLS.search(one))), None)
    calls, source = (told["calls"], told["source"] or "") if told else ("", "")
    doc = own.partition("\n")[0].partition("Calls:")[0]
    return Description(doc.replace("``", "").strip(), calls, source)


def about(parameter: Field[Any]) -> str:
    """What a parameter changes, in one line: what its field says, else what it means in every strategy."""
    return str(parameter.metadata.get("about", ABOUT.get(parameter.name, "")))


def choices_of(parameter: Field[Any]) -> tuple[str, ...]:
    """All the words that a parameter takes, the default first; none if that is open."""
    return tuple(parameter.metadata.get("choices", CHOICES.get(parameter.name, ())))


def _written(strategy: type) -> str:
    """Without what a dataclass writes where its author wrote nothing."""
    text = cleandoc(strategy.__doc__ or "")
    return "" if text.startswith(f"{strategy.__name__}(") else text
