"""What keeps the code readable: short files, short functions, a public interface that is what it says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import koderz_core

CORE = Path(koderz_core.__file__).parent
ROOT = CORE.parent
PAGES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
FILES = [*sorted(CORE.rglob("*.py")), *PAGES, *sorted((ROOT / "pages" / "ui").glob("*.py"))]
SHORT = {
    "koderz_core/plan/evidence.py": "what planning is handed of the past, apart from what uses it",
    "koderz_core/python_parser.py": "the one lock around Python's parser, below all packages that parse",
    "koderz_core/sandbox/inside/warm.py": "imports what programs need into the process that forks them",
    "koderz_core/sandbox/inside/worker.py": "the start of a process in a bare interpreter",
    "koderz_core/similarity/worker.py": "the start of a process of its own",
    "koderz_core/sums.py": "stands below all packages that add up what may be unknown",
}
"""Files of fewer than 40 lines, each with the reason; all others are to be part of a neighbour on their subject."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_at_most_400_lines_or_a_page_150_and_a_function_40(path: Path) -> None:
    source = path.read_text()
    assert source.count("\n") <= (150 if path in PAGES else 400)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 40, node.name


def test_only_files_with_a_reason_and_packages_have_fewer_than_40_lines() -> None:
    short = [path for path in FILES if path.read_text().count("\n") < 40 and path.name != "__init__.py"]
    assert {str(path.relative_to(ROOT)) for path in short} == set(SHORT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_says_in_its_first_line_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_the_public_interface_is_there_and_only_imported_when_used() -> None:
    for name in koderz_core.__all__:
        assert getattr(koderz_core, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        koderz_core.nothing  # noqa: B018 (looked up on purpose)
