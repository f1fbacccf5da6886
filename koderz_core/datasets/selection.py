"""Selects problems of a dataset by a text: ``0:20``, ``3``, ``HumanEval/3``, ``sample:20``, lists of these, ``all``.

``gradable`` are the problems for which the sandbox has all modules and nothing else is known to prevent a pass, and
``gradable:20`` is a sample of them. ``since:2024-05-01`` and ``until:2024-12-31`` in a list restrict the dataset to the
problems of that period.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from koderz_core.datasets.programs import iso_date
from koderz_core.datasets.sources import lacking
from koderz_core.errors import DataError, PlanError, UnknownNameError, UsageError
from koderz_core.records import Dataset, Problem

FORMS = (
    "Choose problems with 'all', '0:20' (the first 20 problems), '3' (a problem number), 'HumanEval/3' (an id), "
    "'sample:20' (a random sample), 'gradable' (the problems that koderz can grade), 'gradable:20' (a sample of the "
    "gradable problems), or several of these terms, separated by commas. To choose only problems whose date is in "
    "a certain period, add 'since:2024-05-01' or 'until:2024-12-31'."
)
SINCE, UNTIL = "since", "until"


def select(dataset: Dataset, text: str, seed: int = 0) -> tuple[Problem, ...]:
    """The problems that ``text`` selects, each once, in the publisher's order.

    A range counts positions in the dataset, from 0, without the end; a number alone is the number in a problem's id,
    or a position if no id of the dataset ends with a number. A
    sample is drawn without replacement and depends on ``seed`` only: ``sample:30`` contains ``sample:20`` of the same
    seed. A period leaves out all other problems first, also those without a date. Raises UnknownNameError for an
    unknown problem, PlanError for any other text and for an empty selection.
    """
    places: set[int] = set()
    period, terms = _period(text)
    dataset = _within(dataset, period) if period else dataset
    for term in terms:
        chosen = _places(dataset.problems, term.strip(), seed)
        if not chosen:
            raise PlanError(
                f"{term.strip()!r} selects no problem; the dataset has {_counted(dataset.problems)}. {FORMS}"
            )
        places |= chosen
    return tuple(dataset.problems[place] for place in sorted(places))


def in_period(problems: str, since: str | None, until: str | None) -> str:
    """The selection ``problems``, restricted to the problems of a period."""
    dates = ((SINCE, since), (UNTIL, until))
    return ",".join([problems, *(f"{name}:{day}" for name, day in dates if day is not None)])


def without_date(dataset: Dataset, text: str) -> int:
    """The number of problems that a selection by dates leaves out because they have none."""
    period, _ = _period(text)
    return sum(not problem.facts.date for problem in dataset.problems) if period else 0


def _period(text: str) -> tuple[dict[str, str], list[str]]:
    """The dates of ``since`` and ``until``, and the other terms. Raises PlanError for something that is not a date."""
    period: dict[str, str] = {}
    terms: list[str] = []
    for term in text.split(","):
        name, colon, day = term.strip().partition(":")
        if not colon or name not in {SINCE, UNTIL}:
            terms.append(term)
            continue
        try:
            period[name] = iso_date(day, name)
        except DataError:
            period[name] = ""
        if period[name] != day or not day:
            raise PlanError(f"{name}: {day!r} is not a date. Write year, month and day, such as 2024-05-31.")
    return period, terms or ["all"]


def _within(dataset: Dataset, period: dict[str, str]) -> Dataset:
    """The dataset with the problems of a period only. Raises PlanError if there are none."""
    first, last = period.get(SINCE, ""), period.get(UNTIL, "9999-12-31")
    kept = tuple(problem for problem in dataset.problems if problem.facts.date and first <= problem.facts.date <= last)
    if not kept:
        dated = sum(bool(problem.facts.date) for problem in dataset.problems)
        bounds = {SINCE: "on or after", UNTIL: "on or before"}
        days = " and ".join(f"{bounds[name]} {day}" for name, day in period.items())
        raise PlanError(
            f"No problem of {dataset.origin.name} is dated {days}. Problems with a date: {dated} of "
            f"{len(dataset.problems)}. Choose another period, or a dataset whose problems have dates."
        )
    return replace(dataset, problems=kept)


def chosen_by(dataset: Dataset, problems: Collection[str]) -> str:
    """The shortest text for which ``select`` returns these problems (ids)."""
    places = [place for place, problem in enumerate(dataset.problems) if problem.id in problems]
    if len(places) == len(dataset.problems):
        return "all"
    if len(places) > 1 and places[-1] - places[0] + 1 == len(places):
        return f"{places[0]}:{places[-1] + 1}"
    ids = [dataset.problems[place].id for place in places]
    short = ",".join((*ids[:1], *(problem_id.rpartition("/")[2] for problem_id in ids[1:])))
    if _means(dataset, short, ids):
        return short
    # The position replaces an id that ``select`` would read as something else.
    named = zip(ids, places, strict=True)
    return ",".join(problem_id if _is_term(problem_id) else f"{place}:{place + 1}" for problem_id, place in named)


def typed(problem: str) -> str:
    """A problem's id as a text for ``select``. Raises PlanError if ``select`` would read it as something else."""
    if not _is_term(problem):
        raise PlanError(
            f"The problem id {problem!r} cannot be used on a command line, because koderz would read it as a "
            "selection of other problems. koderz could use the position of the problem instead, but the file of the "
            "dataset is not available. Restore this file."
        )
    return problem


def way_of(text: str) -> Literal["all", "range", "sample", "list"]:
    """The form of a text: ``all``, one range, one sample, or ``list`` for everything else."""
    if text == "all":
        return "all"
    if re.fullmatch(r"[0-9]{1,9}:[0-9]{1,9}", text):
        return "range"
    return "sample" if re.fullmatch(r"sample:[0-9]{1,9}", text) else "list"


def _means(dataset: Dataset, text: str, problems: Collection[str]) -> bool:
    try:
        return {problem.id for problem in select(dataset, text)} == set(problems)
    except UsageError:
        return False


def _is_term(problem: str) -> bool:
    return problem not in ("", "all", "gradable") and problem == problem.strip() and not set(problem) & set(",:")


def _places(problems: tuple[Problem, ...], term: str, seed: int) -> set[int]:
    everywhere = range(len(problems))
    if term == "all":
        return set(everywhere)
    if span := re.fullmatch(r"([0-9]{0,9}):([0-9]{0,9})", term):
        start, end = (int(number) if number else None for number in span.groups())
        return set(everywhere[start:end])
    gradable = [place for place in everywhere if not (lacking(problems[place]) or problems[place].obstacle)]
    if term == "gradable":
        return set(gradable)
    if sample := re.fullmatch(r"(sample|gradable):([0-9]{1,9})", term):
        return _sample(problems, everywhere if sample[1] == "sample" else gradable, int(sample[2]), seed)
    if ":" in term or not term:
        raise PlanError(f"{term!r} is not a valid selection of problems. {FORMS}")
    return {_place(problems, term)}


def _sample(problems: tuple[Problem, ...], places: Sequence[int], size: int, seed: int) -> set[int]:
    """A sample of the problems at these places."""
    if size > len(places):
        raise PlanError(f"koderz cannot draw a sample of {size} problems from only {_counted(places)}.")
    # Ordered by a hash rather than by a random generator, so that every version of Python draws the same sample.
    shuffled = sorted(places, key=lambda place: hashlib.sha256(f"{seed}/{problems[place].id}".encode()).digest())
    return set(shuffled[:size])


def _counted(problems: Collection[object]) -> str:
    return f"{len(problems)} problem{'' if len(problems) == 1 else 's'}"


def _place(problems: Iterable[Problem], term: str) -> int:
    places = {problem.id: place for place, problem in enumerate(problems)}
    if term in places:
        return places[term]
    number = int(term) if re.fullmatch(r"0*[0-9]{1,9}", term) else None
    numbers = [_number(problem_id) for problem_id in places]
    if number is not None and number < len(places) and not any(own is not None for own in numbers):
        return number
    for (problem_id, place), own in zip(places.items(), numbers, strict=True):
        if number is not None and own == number:
            return place
        if problem_id.rpartition("/")[2] == term:
            return place
    raise UnknownNameError("problem", term, places, FORMS)


def _number(problem_id: str) -> int | None:
    """The number at the end of an id: 3 in ``HumanEval/3``."""
    digits = re.search(r"[0-9]{1,9}$", problem_id)
    return int(digits[0]) if digits else None
