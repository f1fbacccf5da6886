"""Which files of a repository matter for a task that a person describes, by its words and by imports.

``prompts.relevance`` has the points of a word. Files that the best files import, or that import them, get a part of
their points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from koderz_core.prompts.relevance import (
    NEIGHBOUR_SHARE,
    by_place,
    names_file,
    points,
    rarity,
    wanted_words,
    words_of,
)
from koderz_core.records.repositories import PythonModule, Relevant, RepositoryFile, RepositoryMap
from koderz_core.repositories.folder_files import read_file, text_of

MOST_BEST = 5  # files whose neighbours get points
MOST_WORDS_SHOWN = 6
_MOST_READ_BYTES = 64 << 20


def relevant_files(repository: RepositoryMap, task: str) -> tuple[Relevant, ...]:
    """The programs and tests that share words with a task, or are neighbours of those, the most relevant one first."""
    files = [*repository.of_kind("source"), *repository.of_kind("test")]
    modules = {module.path: module for module in repository.modules}
    places = {file.path: _places(file.path, modules.get(file.path)) for file in files}
    texts = _texts(Path(repository.root), files)
    wanted = wanted_words(task)
    contents = [places[path].keys() | texts[path].keys() for path in places]
    telling = {word: rarity(word, contents) for word in wanted}
    found = {}
    for file in files:
        gained = {word: telling[word] * points(word, places[file.path], texts[file.path]) for word in wanted}
        best = sorted((word for word in gained if gained[word]), key=lambda word: (-gained[word], word))
        if best:
            words = tuple(wanted[word] for word in best[:MOST_WORDS_SHOWN])
            found[file.path] = Relevant(file.path, sum(gained.values()), words)
    for file in files:
        if names_file(file.path, task):
            highest = max((it.score for it in found.values()), default=0.0)
            known = found.get(file.path, Relevant(file.path, 0.0, ()))
            found[file.path] = replace(known, score=known.score + highest + 1)
    return _with_neighbours(found, modules)


def _places(path: str, module: PythonModule | None) -> Mapping[str, float]:
    """The words of a file's path, definitions and docstring with their points."""
    names = " ".join(it.name for it in module.definitions) if module else ""
    return by_place(path, names, module.summary if module else "")


def _texts(root: Path, files: Iterable[RepositoryFile]) -> dict[str, Counter[str]]:
    left, found = _MOST_READ_BYTES, {}
    for file in files:
        content = read_file(root, file.path) if file.lines is not None and file.size_bytes <= left else None
        left -= len(content or b"")
        found[file.path] = words_of(text_of(content or b"") or "")
    return found


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
