"""Which problems of a dataset a person means: ``0:20``, ``3``, ``HumanEval/3``, lists of those, samples, ``all``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Dataset, Problem

FORMS = (
    "Problems are chosen by 'all', a range '0:20' (from the first on, the end left out), a number '3', an id "
    "'HumanEval/3', a random sample 'sample:20', or several of these with commas between them."
)


def select(dataset: Dataset, text: str, seed: int = 0) -> tuple[Problem, ...]:
    """The problems that ``text`` means, each once, in the publisher's order.

    A range counts places in the dataset; a number alone is the number in a problem's id. A sample is drawn without
    replacement and depends on ``seed`` only: ``sample:30`` contains ``sample:20`` of the same seed.
    Raises UnknownNameError for a problem that is not there, PlanError for text of no known form and empty choices.
    """
    places: set[int] = set()
    for term in text.split(","):
        chosen = _places(dataset.problems, term.strip(), seed)
        if not chosen:
            raise PlanError(f"{term.strip()!r} chooses none of the {len(dataset.problems)} problems. {FORMS}")
        places |= chosen
    return tuple(dataset.problems[place] for place in sorted(places))


def _places(problems: tuple[Problem, ...], term: str, seed: int) -> set[int]:
    everywhere = range(len(problems))
    if term == "all":
        return set(everywhere)
    if span := re.fullmatch(r"([0-9]{0,9}):([0-9]{0,9})", term):
        start, end = (int(number) if number else None for number in span.groups())
        return set(everywhere[start:end])
    if sample := re.fullmatch(r"sample:([0-9]{1,9})", term):
        return _sample(problems, int(sample[1]), seed)
    if ":" in term or not term:
        raise PlanError(f"Problems cannot be chosen by {term!r}. {FORMS}")
    return {_place(problems, term)}


def _sample(problems: tuple[Problem, ...], size: int, seed: int) -> set[int]:
    if size > len(problems):
        raise PlanError(f"A sample of {size} problems was asked for, but there are only {len(problems)}.")
    # Ordered by hash rather than by a generator: the same in every version of Python.
    shuffled = sorted(range(len(problems)), key=lambda place: _lot(problems[place].id, seed))
    return set(shuffled[:size])


def _lot(problem_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}/{problem_id}".encode()).digest()


def _place(problems: Iterable[Problem], term: str) -> int:
    places = {problem.id: place for place, problem in enumerate(problems)}
    if term in places:
        return places[term]
    for problem_id, place in places.items():
        if re.fullmatch(r"0*[0-9]{1,9}", term) and _number(problem_id) == int(term):
            return place
    raise UnknownNameError("problem", term, places, FORMS)


def _number(problem_id: str) -> int | None:
    """The number at the end of an id: 3 of ``HumanEval/3``."""
    found = re.search(r"[0-9]{1,9}$", problem_id)
    return int(found[0]) if found else None
