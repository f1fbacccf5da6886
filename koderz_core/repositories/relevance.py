"""Which files of a repository matter for a task that a person describes, by its words and by imports.

A file gets points for each word of the task: for a word in its path, in the names of its classes and functions, in the
first sentence of its docstring, and in its text. A word counts more, the fewer files contain it (inverse document
frequency; Spärck Jones 1972). Files that the best files import, or that import them, get a part of their points. The
weights are a choice, not a result of measurements.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from koderz_core.records.repositories import PythonModule, Relevant, RepositoryFile, RepositoryMap
from koderz_core.repositories.folder_files import read_file, text_of

IN_PATH, IN_NAMES, IN_SUMMARY, IN_TEXT = 4.0, 3.0, 2.0, 1.0
NEIGHBOUR_SHARE = 0.3
MOST_BEST = 5  # files whose neighbours get points
MOST_WORDS_SHOWN = 6
_MOST_READ_BYTES = 64 << 20
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


def relevant_files(repository: RepositoryMap, task: str) -> tuple[Relevant, ...]:
    """The programs and tests that share words with a task, or are neighbours of those, the most relevant one first."""
    files = [*repository.of_kind("source"), *repository.of_kind("test")]
    modules = {module.path: module for module in repository.modules}
    fields = {file.path: _fields(file, modules.get(file.path)) for file in files}
    texts = _texts(Path(repository.root), files)
    wanted = {_stem(word.lower()): word for word in reversed(_WORD.findall(task)) if _counts(word.lower())}
    rarity = {word: _rarity(word, fields, texts) for word in wanted}
    found = {}
    for file in files:
        points = {word: rarity[word] * _points(word, fields[file.path], texts[file.path]) for word in wanted}
        best = sorted((word for word in points if points[word]), key=lambda word: (-points[word], word))
        if best:
            words = tuple(wanted[word] for word in best[:MOST_WORDS_SHOWN])
            found[file.path] = Relevant(file.path, sum(points.values()), words)
    for file in files:
        if _names(file.path, task):
            highest = max((it.score for it in found.values()), default=0.0)
            known = found.get(file.path, Relevant(file.path, 0.0, ()))
            found[file.path] = replace(known, score=known.score + highest + 1)
    return _with_neighbours(found, modules)


def _counts(word: str) -> bool:
    return len(word) >= _SHORTEST and word not in _STOP_WORDS


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _fields(file: RepositoryFile, module: PythonModule | None) -> Mapping[str, float]:
    """The words of a file's path, definitions and docstring with the points of the best place."""
    names = " ".join(it.name for it in module.definitions) if module else ""
    places = ((module.summary if module else "", IN_SUMMARY), (names, IN_NAMES), (file.path, IN_PATH))
    return {word: points for text, points in places for word in words_of(text)}


def _texts(root: Path, files: Iterable[RepositoryFile]) -> dict[str, Counter[str]]:
    left, found = _MOST_READ_BYTES, {}
    for file in files:
        content = read_file(root, file.path) if file.lines is not None and file.size_bytes <= left else None
        left -= len(content or b"")
        found[file.path] = words_of(text_of(content or b"") or "")
    return found


def _rarity(word: str, fields: Mapping[str, Mapping[str, float]], texts: Mapping[str, Counter[str]]) -> float:
    number = sum(word in fields[path] or word in texts[path] for path in fields)
    return math.log(1 + len(fields) / number) if number else 0.0


def _points(word: str, fields: Mapping[str, float], text: Counter[str]) -> float:
    return fields.get(word, 0.0) + (IN_TEXT * (1 + math.log(text[word])) if text[word] else 0.0)


def _names(path: str, task: str) -> bool:
    """Whether the task names the file, by its path or its name with the ending."""
    names = (path, path.rpartition("/")[2])
    return any(re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])", task) for name in names)


def _with_neighbours(found: Mapping[str, Relevant], modules: Mapping[str, PythonModule]) -> tuple[Relevant, ...]:
    order = sorted(found.values(), key=lambda it: (-it.score, it.path))
    scores = dict(found)
    for best in reversed(order[:MOST_BEST]):  # so that the best one is the neighbour that is named
        for path in _neighbours(best.path, modules):
            known = found.get(path, Relevant(path, 0.0, ()))
            gain = NEIGHBOUR_SHARE * best.score
            if path not in scores or known.score + gain >= scores[path].score:
                neighbour = best.path if gain > known.score else ""
                scores[path] = replace(known, score=known.score + gain, neighbour=neighbour)
    return tuple(sorted(scores.values(), key=lambda it: (-it.score, it.path)))


def _neighbours(path: str, modules: Mapping[str, PythonModule]) -> Sequence[str]:
    """The modules that a module imports, and those that import it, except ones that nearly every module imports."""
    module = modules.get(path)
    importers = [it.path for it in modules.values() if path in it.imports]
    return [*(module.imports if module else ()), *(importers if len(importers) <= len(modules) / 4 else ())]
