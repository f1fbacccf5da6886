"""A reviewer's answer by the headings that it was asked for, and which of them are passed on to the coder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from koderz_core.prompts.quoting import shortened
from koderz_core.prompts.thoughts import answer

GUIDANCE_LIMIT = 3000  # characters: guidance longer than about 750 tokens would crowd out the problem
SECTION_LIMIT = 6000  # characters that are recorded of a section

FAILING_TESTS, ROOT_CAUSE, FIX, EDGE_CASES = "failing tests", "root cause", "fix", "edge cases"
STRATEGY, TEST_CRITERIA = "strategy", "test criteria"
PASSED_ON = (ROOT_CAUSE, FIX, EDGE_CASES, STRATEGY, TEST_CRITERIA)
WHOLE = "whole"
"""What is passed on of an answer without any of these headings."""

_NAMES: Mapping[str, str] = {
    FAILING_TESTS: r"(?:fail(?:ing|ed)[ -]tests?|test failures?)(?: analys[ie]s)?",
    ROOT_CAUSE: r"root[ -]causes?(?: diagnosis| analys[ie]s)?",
    FIX: r"(?:proposed |suggested |recommended )?fix(?:es)?",
    EDGE_CASES: r"edge[ -]cases?",
    STRATEGY: r"strategic guidance|strategy",
    TEST_CRITERIA: r"test criteria",
}
_HEADING = re.compile(
    r"(?:\(?\d{1,2}[.):]*\s+)?(?:" + "|".join(f"(?P<n{i}>{name})" for i, name in enumerate(_NAMES.values())) + r")\b"
    r"(?P<more>[^:]*)(?P<colon>:?)\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_LONGEST_HEADING = 60
_FENCE = re.compile(r" *(```|~~~)")


@dataclass(frozen=True, slots=True)
class Guidance:
    """What of a review goes into the coder's next prompts; ``sections``: its answer by heading."""

    text: str
    sections: Mapping[str, str]
    passed_on: tuple[str, ...]


def guidance(reply: str) -> Guidance:
    """Read a reviewer's answer, without its thinking; what is passed on is bounded, each section by its fair share."""
    text = answer(reply).strip()
    sections = {name: shortened(said, SECTION_LIMIT) for name, said in _read(text).items()}
    passed_on = tuple(name for name in PASSED_ON if name in sections)
    if not passed_on:
        return Guidance(shortened(text, GUIDANCE_LIMIT), sections, (WHOLE,))
    titles = [f"{name.capitalize()}:\n" for name in passed_on]
    room = GUIDANCE_LIMIT - sum(len(title) + len("\n\n") for title in titles)
    said = _shared({name: sections[name] for name in passed_on}, room)
    return Guidance("\n\n".join(map(str.__add__, titles, said)), sections, passed_on)


def _read(text: str) -> dict[str, str]:
    """Non-empty sections by name; what stands before the first heading is none's."""
    found: dict[str, list[str]] = {}
    name, in_code = "", False
    for line in text.split("\n"):
        in_code ^= bool(_FENCE.match(line))
        heading = None if in_code else _heading(line)
        name, said = heading or (name, line)
        if name:
            found.setdefault(name, []).append(said)
    joined = {name: "\n".join(lines).strip() for name, lines in found.items()}
    return {name: said for name, said in joined.items() if said}


def _heading(line: str) -> tuple[str, str] | None:
    """The section that a line begins, and what it says of it already: any level, number, case, bold or plain."""
    stripped = line.strip()
    if stripped.startswith(("* ", "- ")):
        return None  # an item of a list
    found = _HEADING.match(stripped.strip("#*_ "))
    if not found or len(found["more"]) > _LONGEST_HEADING:
        return None
    name = next(one for place, one in enumerate(_NAMES) if found[f"n{place}"])
    more, rest = found["more"].strip(" *_#"), found["rest"].strip().removeprefix("**").strip()
    if stripped.startswith("#"):
        return name, rest
    return (name, rest) if found["colon"] and not more else (name, "") if not more else None


def _shared(texts: Mapping[str, str], room: int) -> list[str]:
    """Each text within its fair share of ``room``; what short ones leave goes to the others."""
    limits: dict[str, int] = {}
    for place, name in enumerate(sorted(texts, key=lambda one: len(texts[one]))):
        limits[name] = (room - sum(limits.values())) // (len(texts) - place)
        limits[name] = min(limits[name], len(texts[name]))
    return [shortened(text, limits[name]) for name, text in texts.items()]
