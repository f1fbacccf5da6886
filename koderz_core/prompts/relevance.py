"""How much a text or a file matters for a task: points for each word that it shares with the task.

A word gets points by its place: a path, names of classes and functions, the first sentence of a docstring, other text.
It counts more, the fewer texts contain it (inverse document frequency; Spärck Jones 1972). The weights are a choice,
not a result of measurements.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping

IN_PATH, IN_NAMES, IN_SUMMARY, IN_TEXT = 4.0, 3.0, 2.0, 1.0
NEIGHBOUR_SHARE = 0.3
"""The part of its points that a file or definition gives to its neighbours."""
_SHORTEST = 3
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d{3,}")
_ENDINGS = ("ings", "ing", "ers", "er", "ed", "es", "s", "e")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        the and for with that this from into add make new use not are can should would when then than all any one each
        have has its our your their there which what must will may also only more most some such def class self return
        import none true false file files code function module test tests support feature option
        """,
    )
)


def words_of(text: str) -> Counter[str]:
    """The words in a text or in names, in lower case and without common endings, with their numbers."""
    found = (word.lower() for word in _WORD.findall(text))
    return Counter(_stem(word) for word in found if _counts(word))


def wanted_words(task: str) -> dict[str, str]:
    """The words of a task as ``words_of`` returns them, each with its first form in the task."""
    return {_stem(word.lower()): word for word in reversed(_WORD.findall(task)) if _counts(word.lower())}


def by_place(path: str, names: str, summary: str) -> dict[str, float]:
    """The words of a text's path, names and summary with the points of the best place."""
    places = ((summary, IN_SUMMARY), (names, IN_NAMES), (path, IN_PATH))
    return {word: points for text, points in places for word in words_of(text)}


def rarity(word: str, texts: Collection[Collection[str]]) -> float:
    """How telling a word is; ``texts``: the words of each text. 0 if none contains it."""
    number = sum(word in text for text in texts)
    return math.log(1 + len(texts) / number) if number else 0.0


def points(word: str, places: Mapping[str, float], text: Mapping[str, int]) -> float:
    """The points of a word in a text with these words."""
    return places.get(word, 0.0) + (IN_TEXT * (1 + math.log(text[word])) if text.get(word) else 0.0)


def names_file(path: str, task: str) -> bool:
    """Whether the task names the file, by its path or its name with the ending."""
    names = (path, path.rpartition("/")[2])
    return any(re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])", task) for name in names)


def _counts(word: str) -> bool:
    return len(word) >= _SHORTEST and word not in _STOP_WORDS


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
