"""A reviewer's answer by the headings that it was asked for, and which of them are passed on to the coder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from koderz_core.prompts.extraction import answer
from koderz_core.prompts.quotes import fence_after, shortened

GUIDANCE_LIMIT = 3000  # characters: guidance longer than about 750 tokens would crowd out the problem
SECTION_LIMIT = 6000  # characters that are recorded of a section

FAILING_TESTS, ROOT_CAUSE, FIX, EDGE_CASES = "failing tests", "root cause", "fix", "edge cases"
STRATEGY, TEST_CRITERIA, OTHER = "strategy", "test criteria", "other"
PASSED_ON = (ROOT_CAUSE, FIX, EDGE_CASES, STRATEGY, TEST_CRITERIA, OTHER)
WHOLE = "whole"
"""What is passed on of an answer without a fix: what was meant as one may stand anywhere in it."""

_NAMES: Mapping[str, str] = {
    FAILING_TESTS: r"(?:fail(?:ing|ed)[ -]tests?|test failures?)(?: analys[ie]s)?",
    ROOT_CAUSE: r"(?:root[ -]causes?|diagnosis)(?: diagnosis| analys[ie]s)?",
    FIX: r"(?:proposed |suggested |recommended )?fix(?:es)?",
    EDGE_CASES: r"edge[ -]cases?(?: to (?:handle|consider))?",
    STRATEGY: r"strategic guidance|strategy",
    TEST_CRITERIA: r"test criteria",
}
_NUMBER = r"\(?\d{1,2}(?:[.):]+\s*|\s+)(?:[-\u2013\u2014]+\s+)?"
_COLON = r"[:\uff1a]|\s[-\u2013\u2014]+(?=\s|$)|[\u2013\u2014]"
_HEADING = re.compile(
    rf"(?:{_NUMBER})?(?:the )?(?:{'|'.join(f'(?P<n{i}>{name})' for i, name in enumerate(_NAMES.values()))})\b"
    rf"(?:(?P<more>[^\n]*?)(?P<colon>{_COLON})(?P<rest>[^\n]*)|(?P<only>[^\n]*))",
    re.IGNORECASE,
)
_ANY_HEADING = re.compile(rf" {{0,3}}(?:#{{1,6}}\s+\S|\*\*{_NUMBER}\S)")
_DEEPEST = 7  # a heading without #: below any with it
_LONGEST_HEADING = 60


@dataclass(frozen=True, slots=True)
class Guidance:
    """What of a review goes into the coder's next prompts; ``sections``: its answer by heading.

    Of an answer that was empty, or all thinking, nothing is passed on.
    """

    text: str
    sections: Mapping[str, str]
    passed_on: tuple[str, ...]


def guidance(reply: str) -> Guidance:
    """Read a reviewer's answer, without its thinking; what is passed on is bounded, each section by its fair share."""
    text = answer(reply).strip()
    sections = {name: shortened(said, SECTION_LIMIT) for name, said in _read(text).items()}
    if FIX not in sections:
        return Guidance(shortened(text, GUIDANCE_LIMIT), sections, (WHOLE,) if text else ())
    passed_on = tuple(name for name in PASSED_ON if name in sections)
    titles = [f"{name.capitalize()}:\n" for name in passed_on]
    room = GUIDANCE_LIMIT - sum(len(title) + len("\n\n") for title in titles)
    said = _shared({name: sections[name] for name in passed_on}, room)
    return Guidance("\n\n".join(map(str.__add__, titles, said)), sections, passed_on)


@dataclass(frozen=True, slots=True)
class _Heading:
    """The section that a line begins, how deep it stands (1 to 7), and what the line says of it already."""

    name: str
    level: int
    said: str


def _read(text: str) -> dict[str, str]:
    """Non-empty sections by name; what stands before the first heading is none's."""
    found: dict[str, list[str]] = {}
    now, fence = _Heading("", _DEEPEST, ""), ""
    for line in text.split("\n"):
        before, fence = fence, fence_after(line, fence)
        heading = None if before or fence else _heading(line, now)
        now = heading or now
        if now.name:
            found.setdefault(now.name, []).append(heading.said if heading else line)
    joined = {name: "\n".join(lines).strip() for name, lines in found.items()}
    return {name: said for name, said in joined.items() if said}


def _heading(line: str, now: _Heading) -> _Heading | None:
    """The section that a line begins, if any, below the heading ``now``: a deeper one is a part of that one's text.

    What no name is known for ends the failing tests only, which are kept from the coder; elsewhere it is passed on.
    """
    level = _level(line)
    if level is None or now.level < level < _DEEPEST:
        return None
    if found := _named(line, hashed=level < _DEEPEST):
        return _Heading(found[0], level, found[1])
    return _Heading(OTHER, level, line) if now.name == FAILING_TESTS and _ANY_HEADING.match(line) else None


def _level(line: str) -> int | None:
    """How deep a heading on this line would stand; None: there can be none, in an item of a list or in code."""
    text = line.expandtabs(4)
    body = text.lstrip(" ")
    if len(text) - len(body) > 3 or body.startswith(("* ", "- ")):  # spec.commonmark.org/0.31.2/#atx-headings
        return None
    return min(len(body) - len(body.lstrip("#")), _DEEPEST) or _DEEPEST


def _named(line: str, *, hashed: bool) -> tuple[str, str] | None:
    """A section's name and what the line says of it: any number, case, bold or plain. ``hashed``: behind some #."""
    found = _HEADING.match(line.strip().strip("#*_ "))
    more = (found["more"] if found["colon"] else found["only"]).strip(" *_#") if found else ""
    if not found or len(more) > _LONGEST_HEADING or (more and not hashed):
        return None
    name = next(one for place, one in enumerate(_NAMES) if found[f"n{place}"])
    rest = (found["rest"] or "").strip().removeprefix("**").strip()
    return name, f"{more}{found['colon']} {rest}".strip() if more and rest else more or rest


def _shared(texts: Mapping[str, str], room: int) -> list[str]:
    """Each text within its fair share of ``room``; what short ones leave goes to the others."""
    limits: dict[str, int] = {}
    for place, name in enumerate(sorted(texts, key=lambda one: len(texts[one]))):
        limits[name] = (room - sum(limits.values())) // (len(texts) - place)
        limits[name] = min(limits[name], len(texts[name]))
    return [shortened(text, limits[name]) for name, text in texts.items()]
