"""The fields of a line with ``"kind": "repo"`` in a user's own file, and the faults of such a line.

The tree that a line names is in the data folder (``datasets.trees``), because many lines share it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated

from pydantic import AfterValidator, Field

from koderz_core.datasets.own_fields import CommonRow, Complaint, SomeText, Text, require
from koderz_core.datasets.repository_files import (
    PublicFiles,
    broken_files,
    is_installed,
    names_in_tests,
    texts_of,
    touched,
)
from koderz_core.errors import DataError, listed
from koderz_core.patches import PatchError, apply_patch
from koderz_core.records import Problem, PublicProblem, Repository, SourceTree, TestSet
from koderz_core.records.trees import is_open, is_plain_path

Trees = Callable[[str, str], SourceTree]
"""Returns the tree of a SHA-256; the second text is its name, for messages. Raises DataError."""

_DIFF = "write a unified diff, as git diff writes it"
_IDS = "write a list of test ids as pytest names them, such as ['tests/test_a.py::test_b']"
_SHOWN = 3  # of the names in a complaint
_MOST_SECONDS = 1e5


_PATH = "is not a relative path inside the tree (with / as the separator)"
FilePath = Annotated[Text, require(is_plain_path, _PATH)]
Root = Annotated[Text, require(lambda text: not text or is_plain_path(text), _PATH)]
Id = Annotated[SomeText, AfterValidator(sys.intern)]  # many lines name the same tests


class RepositoryRow(CommonRow):
    """A problem that asks for changes of a repository. The description of a field is the cure for its faults."""

    tree: Annotated[str, require(lambda text: len(text) == 64 and text.isalnum(), "is not a SHA-256")] = Field(
        description="write the SHA-256 of a tree that koderz forge or koderz prepare-swebench has stored"
    )
    name: Text = Field(default="", description="write the name of the package and its version, such as 'tinydb-4.8.2'")
    fault: Text = Field(default="", description=f"{_DIFF}, or omit the field if the tree already contains the fault")
    canonical_solution: SomeText = Field(description=_DIFF)
    editable: list[FilePath] = Field(
        min_length=1, description="write a list of the files that an answer may change, such as ['src/a.py']"
    )
    FAIL_TO_PASS: list[Id] = Field(min_length=1, description=_IDS)
    PASS_TO_PASS: list[Id] = Field(default=[], description=_IDS)
    roots: list[Root] = Field(
        default=[""], min_length=1, description="write a list of folders that tests import from, such as ['src']"
    )
    needs: list[Annotated[str, require(str.isidentifier, "is not the name of a module")]] = Field(
        default=[], description="write a list of installed modules that the tests import, such as ['yaml']"
    )
    seconds: float = Field(default=0.0, ge=0, lt=_MOST_SECONDS, description="write how long the tests take, in seconds")


def repository_complaints(row: RepositoryRow, trees: Trees) -> Iterator[Complaint]:
    """All faults of a row that concern several fields or the tree."""
    try:
        tree = trees(row.tree, row.name)
    except DataError as error:
        yield "tree", "cannot be used", str(error).removesuffix(".")
        return
    yield from _faults_of_patches(row, tree)
    yield from _faults_of_editable(row, tree)
    yield from _faults_of_ids(row, tree)
    texts = texts_of(tree)
    for root in (root for root in row.roots if root and not any(path.startswith(f"{root}/") for path in texts)):
        yield "roots", f"names a folder that is not in the tree: {root[:80]!r}", "name a folder of the tree"


def repository_of(row: RepositoryRow, trees: Trees) -> Problem:
    """The problem of a row without faults."""
    tree = trees(row.tree, row.name)
    failing, passing = tuple(row.FAIL_TO_PASS), tuple(row.PASS_TO_PASS)
    editable, needs = tuple(row.editable), tuple(row.needs)
    missing = [name for name in ("pytest", *needs) if not is_installed(name)]
    repository = Repository(tree, row.fault, editable, failing, passing, tuple(row.roots), needs, row.seconds)
    public = PublicProblem(
        row.task_id, row.prompt, "", kind="repo", files=PublicFiles(tree, row.fault), editable=editable
    )
    return Problem(
        public,
        TestSet(ids=failing + passing),
        row.canonical_solution,
        samples=TestSet(ids=tuple(test for test in failing if _is_shown(test, row.prompt))),
        facts=row.facts,
        obstacle=f"its tests need modules that are not installed: {', '.join(missing)}" if missing else "",
        repository=repository,
    )


def _is_shown(test: str, text: str) -> bool:
    """Whether a text names a test, or contains its source."""
    function = test.partition("[")[0].rpartition("::")[2]
    whole_id = rf"(?<!\w){re.escape(test)}(?![\w\[])"  # test_list is no part of test_list_of
    return bool(re.search(whole_id, text)) or f"def {function}(" in text


def _faults_of_patches(row: RepositoryRow, tree: SourceTree) -> Iterator[Complaint]:
    try:
        broken = broken_files(tree, row.fault)
    except PatchError as error:
        yield "fault", f"does not apply to the tree: {error}", "create the diff against the files of the tree"
        return
    try:
        paths = touched(row.canonical_solution)
        before = {**{path: text for path, text in texts_of(tree).items() if path not in touched(row.fault)}, **broken}
        known = {path: before[path] for path in paths if path in before}
        changed = apply_patch(row.canonical_solution, known) != known
    except PatchError as error:
        yield (
            "canonical_solution",
            f"does not apply to the tree with the fault: {error}",
            "create the diff against the files that already contain the fault",
        )
        return
    if not changed:
        yield "canonical_solution", "changes nothing", _DIFF
    if others := sorted(paths - set(row.editable)):
        what = f"changes files that are not editable: {_listed(others)}"
        yield "canonical_solution", what, "add these files to the field editable, or remove them from the diff"


def _faults_of_editable(row: RepositoryRow, tree: SourceTree) -> Iterator[Complaint]:
    if closed := [path for path in row.editable if not is_open(path)]:
        what = f"names tests, conftest.py or configuration files: {_listed(closed)}"
        yield "editable", what, "answers may not change these files, so remove them from the list"
    created = set(re.findall(r"^\+\+\+ b/(.+)$", row.canonical_solution, re.MULTILINE))
    if missing := [path for path in row.editable if path not in texts_of(tree) and path not in created]:
        yield (
            "editable",
            f"names files that are not text files of the tree: {_listed(missing)}",
            "name text files of the tree",
        )


def _faults_of_ids(row: RepositoryRow, tree: SourceTree) -> Iterator[Complaint]:
    fields = {"FAIL_TO_PASS": row.FAIL_TO_PASS, "PASS_TO_PASS": row.PASS_TO_PASS}
    names = names_in_tests(tree)
    for field, ids in fields.items():
        if unknown := [test for test in ids if not _is_in(test, tree, names)]:
            what = f"names tests that are not in the tree: {_listed(unknown)}"
            yield field, what, "write the path of the file, the class if there is one, and the function, joined by ::"
    times = Counter([*row.FAIL_TO_PASS, *row.PASS_TO_PASS])
    if repeated := [test for test, number in times.items() if number > 1]:
        what = f"lists tests twice, or FAIL_TO_PASS does, or both list them: {_listed(repeated)}"
        yield "PASS_TO_PASS", what, "list each test once, in one of these two fields"


def _is_in(test: str, tree: SourceTree, known: AbstractSet[str]) -> bool:
    """Whether the tree has the file of a test, and some test file its function; a test may be inherited."""
    path, *names = test.partition("[")[0].split("::")
    return path in tree.files and (not path.endswith(".py") or (bool(names) and names[-1] in known))


def _listed(names: Sequence[str]) -> str:
    return listed([repr(name[:120]) for name in names], _SHOWN)
