"""The files of a repository as a task begins, and with the patch of a program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from koderz_core.errors import DataError
from koderz_core.patches import FilePatch, PatchError, apply_changes, apply_patch, read_patch
from koderz_core.records import Repository
from koderz_core.records.trees import is_open, is_plain_path

_NEVER = (".git", ".hg", ".svn", "__pycache__", ".pytest_cache", ".hypothesis")
_TEST_NAME = re.compile(r"(test_.*|.*_test|tests?)\.py")


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The files of a tree with its fault, by path; ``texts``: those that an answer may change.

    ``tests``: the Python files that come with the tests, as texts. ``cases``: those of them with tests.
    """

    files: Mapping[str, bytes]
    texts: Mapping[str, str]
    tests: Mapping[str, str]
    cases: frozenset[str]


@dataclass(frozen=True, slots=True)
class Change:
    """What a patch makes of the files that it may change, "None" for a deleted one, and the paths that it may not."""

    files: Mapping[str, bytes | None]
    ignored: tuple[str, ...]


@lru_cache(32)  # one has the texts of all tests, and a benchmark may have hundreds of tasks
def state_of(repository: Repository) -> State:
    """The state in which the task begins. Raises DataError if the tree or the fault is invalid."""
    tree = repository.tree
    files = {path: content for path, content in tree.files.items() if not set(path.split("/")) & set(_NEVER)}
    for path in files:
        if not is_plain_path(path):
            raise DataError(
                f"The file tree of {tree.name} contains a file with an invalid name: {path[:200]!r}. Correct this name."
            )
    try:
        changes = read_patch(repository.fault)
        texts = {path: _text(files, path) for path in {*repository.editable, *_paths(changes)} if path in files}
        texts = apply_patch(repository.fault, texts)
    except PatchError as error:
        raise DataError(
            f"The patch that introduces the fault of a task does not apply to {tree.name}: {error}. Create the task "
            "again."
        ) from None
    for path in _paths(changes):
        files.pop(path, None)
    files |= {path: text.encode() for path, text in texts.items()}
    cases = {test.partition("::")[0] for test in (*repository.failing, *repository.passing)}
    cases |= {path for path in files if _TEST_NAME.fullmatch(path.rpartition("/")[2])}
    cases -= {*repository.editable}
    folders = tuple({f"{folder}/" for path in cases if (folder := path.rpartition("/")[0])})
    tests = {path: text for path, text in _python(files) if path in cases or path.startswith(folders)}
    editable = {path: text for path, text in texts.items() if path in repository.editable}
    return State(files, editable, {path: tests[path] for path in tests if path not in editable}, frozenset(cases))


def change_of(state: State, repository: Repository, patch: str) -> Change:
    """What a patch changes. Raises PatchError if the part of it that counts does not apply."""
    editable = frozenset(repository.editable)
    allowed, ignored = list[FilePatch](), list[str]()
    for change in read_patch(patch):
        paths = {path for path in (change.old, change.new) if path is not None}
        if paths <= editable and all(map(is_open, paths)):
            allowed.append(change)
        else:
            ignored.append(change.path)
    if patch.strip() and not allowed and not ignored:
        raise PatchError("it is not a unified diff")
    after = apply_changes(allowed, state.texts)
    files: dict[str, bytes | None] = {path: None for path in state.texts if path not in after}
    files |= {path: text.encode() for path, text in after.items() if state.texts.get(path) != text}
    return Change(files, tuple(dict.fromkeys(ignored)))


def _paths(changes: Iterable[FilePatch]) -> Iterable[str]:
    return (path for change in changes for path in (change.old, change.new) if path is not None)


def _text(files: Mapping[str, bytes], path: str) -> str:
    try:
        return files[path].decode()
    except UnicodeDecodeError as error:
        raise PatchError(f"{path} is not text ({error})") from None


def _python(files: Mapping[str, bytes]) -> Iterable[tuple[str, str]]:
    for path, content in files.items():
        if path.endswith(".py"):
            try:
                yield path, content.decode()
            except UnicodeDecodeError:
                continue  # it stays as it is
