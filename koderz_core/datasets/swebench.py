"""Rows in the format of SWE-bench, and the repository tasks that they become (Jimenez et al., arXiv 2310.06770).

A row names a commit of a repository, a patch of its tests, and the tests that the correct patch must repair. The tree
of a task is that commit with the patch of the tests. koderz downloads no repository.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koderz_core.datasets.repository_files import touched
from koderz_core.errors import DataError
from koderz_core.input_files import read_unpacked
from koderz_core.input_tables import Columns, Row, rows_of
from koderz_core.patches import PatchError, apply_patch, make_patch
from koderz_core.records.trees import is_open

_TEXTS = ("instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement")
_LISTS = ("FAIL_TO_PASS", "PASS_TO_PASS")
FIELDS = (*_TEXTS, *_LISTS)
_CURE = f"Give a file of rows (JSON lines, a JSON array or Parquet) with the fields {', '.join(FIELDS)}."
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_OPTIONAL = "created_at"


@dataclass(frozen=True, slots=True)
class Instance:
    """A row. ``failing`` must pass with ``patch``, ``passing`` must pass before and after. All texts are hostile."""

    id: str
    repo: str
    commit: str
    patch: str
    test_patch: str
    text: str
    failing: tuple[str, ...]
    passing: tuple[str, ...]
    date: str = ""

    @property
    def tree_name(self) -> str:
        """The name of its tree: the repository and the commit."""
        return f"{self.repo}@{self.commit[:12]}"


def read_instances(path: Path) -> tuple[Instance, ...]:
    """The rows of a file. Raises DataError, which names the line of a wrong or repeated row."""
    content = read_unpacked(path, _CURE)
    found: dict[str, Instance] = {}
    for number, row in _rows(path, content):
        try:
            instance = _instance(row)
        except DataError as fault:
            raise DataError(f"{path}, row {number}: {fault}. {_CURE}") from fault
        if instance.id in found:
            raise DataError(
                f"{path}, row {number}: an earlier row has the same instance_id, {instance.id!r}. Remove one of the "
                "two rows."
            )
        found[instance.id] = instance
    if not found:
        raise DataError(f"{path} has no rows. {_CURE}")
    return tuple(found.values())


def with_tests(instance: Instance, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a commit after the patch of the tests. Raises DataError if it does not apply."""
    changed = _changed(instance.test_patch, files, "test_patch")
    same = files.keys() - touched(instance.test_patch)  # without files that the patch deletes or renames
    return {**{path: content for path, content in files.items() if path in same}, **changed}


def solution_of(instance: Instance, files: Mapping[str, bytes]) -> str:
    """The correct patch as koderz writes patches. Raises DataError if it does not apply or changes tests."""
    before = _texts(instance.patch, files)
    after = {path: content.decode() for path, content in _changed(instance.patch, files, "patch").items()}
    if closed := sorted(path for path in before.keys() | after.keys() if not is_open(path)):
        raise DataError(f"its correct patch changes tests or configuration: {', '.join(closed[:5])}")
    if not (solution := make_patch(before, after)):
        raise DataError("its correct patch changes no text file")
    return solution


def line_of(
    instance: Instance, tree: str, solution: str, editable: Sequence[str], passing: Sequence[str], **facts: object
) -> dict[str, Any]:
    """The line of a dataset file. ``facts``: further fields of a line of the kind ``repo``."""
    return {
        "kind": "repo",
        "task_id": instance.id,
        "prompt": instance.text,
        "tree": tree,
        "name": instance.tree_name,
        "canonical_solution": solution,
        "editable": sorted({*editable, *touched(solution)}),
        "FAIL_TO_PASS": list(instance.failing),
        "PASS_TO_PASS": list(passing),
        "topic": instance.repo,
        **({"date": instance.date} if instance.date else {}),
        **facts,
    }


def _rows(path: Path, content: bytes) -> Iterator[tuple[int, Row]]:
    if content.lstrip().startswith(b"["):
        try:
            rows = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is not JSON: {error}. {_CURE}") from error
        yield from enumerate((row if isinstance(row, dict) else {} for row in rows), start=1)
        return
    columns = Columns(optional={name: name for name in (*FIELDS, _OPTIONAL)})
    for number, row in rows_of(path, content, columns):
        yield number, row() if callable(row) else row


def _instance(row: Row) -> Instance:
    texts = {name: row.get(name) for name in _TEXTS}
    for name, value in texts.items():
        if not isinstance(value, str) or not (value.strip() or name == "test_patch"):
            raise DataError(f"field {name} is missing or is not text")
    failing, passing = (_ids(row.get(name), name) for name in _LISTS)
    day = _DAY.match(str(row.get(_OPTIONAL, "")))
    name, repo, commit, patch, test_patch, text = (str(texts[name]) for name in _TEXTS)
    return Instance(name, repo, commit, patch, test_patch, text, failing, passing, day[0] if day else "")


def _ids(value: object, name: str) -> tuple[str, ...]:
    """A list of texts, which published files hold as JSON in a text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, list) or not all(isinstance(test, str) for test in value):
        raise DataError(f"field {name} is not a list of tests")
    return tuple(dict.fromkeys(value))


def _texts(patch: str, files: Mapping[str, bytes], errors: str = "strict") -> dict[str, str]:
    """The files that a patch reads, as texts. ``errors``: as for ``bytes.decode``. Raises DataError."""
    try:
        return {path: files[path].decode(errors=errors) for path in touched(patch) if path in files}
    except PatchError as error:
        raise DataError(f"its patch cannot be read: {error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"its patch changes a file that is not UTF-8 text ({error.reason})") from None


def _changed(patch: str, files: Mapping[str, bytes], field: str) -> dict[str, bytes]:
    """The files that a patch reads, after it. A binary file may be renamed."""
    same_bytes = "surrogateescape"
    try:
        texts = apply_patch(patch, _texts(patch, files, same_bytes))
        return {path: text.encode(errors=same_bytes) for path, text in texts.items()}
    except PatchError as error:
        raise DataError(f"its {field} does not apply to the commit: {error}") from None
