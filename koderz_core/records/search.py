"""A search of everything recorded by words: what to find, and what was found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["prompt", "answer", "program", "error", "name"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_CHARACTERS = 500  # of a query; the rest is ignored
MOST_TERMS = 12
MOST_LIMIT = 1000
DEFAULT_LIMIT = 20


@dataclass(frozen=True, slots=True)
class Term:
    """A word, which also matches the beginning of a longer word, or a quoted ``phrase``, which matches whole words.

    ``words``: in lower case, at least one. An underscore separates words of an identifier: ``close`` matches
    ``has_close_elements``, and ``has_close`` does too.
    """

    words: tuple[str, ...]
    phrase: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression for Python and RE2, in lower case; its only group is the text to mark."""
        begin = r"(?:^|[^a-z0-9])" if _in_word(self.words[0][0]) else ""
        end = r"(?:$|[^a-z0-9])" if self.phrase and _in_word(self.words[-1][-1]) else ""
        text = r"\s+".join(map(re.escape, self.words))
        return f"{begin}({text}){end}"


def _in_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """The ``words`` as a user types them; the other fields narrow the search. ``limit``: matches to return.

    All words must occur in the same text, in any order. ``benchmark``: its id.
    """

    words: str
    kind: Kind | None = None
    benchmark: str | None = None
    limit: int = DEFAULT_LIMIT

    @property
    def terms(self) -> tuple[Term, ...]:
        """The words and phrases to find; empty if the query contains none."""
        text = "".join(c if c.isprintable() else " " for c in self.words[:MOST_CHARACTERS]).lower()
        parts = re.findall(r'"([^"]*)"|([^\s"]+)', text)
        terms = [Term((word,)) if word else Term(tuple(quoted.split()), True) for quoted, word in parts]
        return tuple(dict.fromkeys(term for term in terms if term.words))[:MOST_TERMS]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A text or a name that contains all terms, at its latest occurrence (``at``, seconds since 1970).

    ``experiments``: how many contain it. ``snippet``: an excerpt on one line that alternates text outside and inside
    a match, beginning outside. ``experiment`` is None for the name of a benchmark or model. ``step``: its number on
    the page of the experiment, None if unknown. ``problem``, ``configuration`` (a label) and all texts are hostile.
    """

    kind: Kind
    at: float
    experiments: int
    snippet: tuple[str, ...]
    benchmark: str
    benchmark_name: str
    experiment: str | None = None
    step: int | None = None
    problem: str | None = None
    configuration: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Matches: names, then texts, each the newest first; ``more``: others match too."""

    hits: tuple[SearchHit, ...] = ()
    more: bool = False
