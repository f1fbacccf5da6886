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


def test_a_file_says_what_it_is_for_and_has_at_most_400_lines_or_a_page_150_and_a_function_40() -> None:
    """One test for all files, which are hundreds."""
    faults: list[str] = []
    for path in FILES:
        name, source = path.relative_to(ROOT), path.read_text()
        tree = ast.parse(source)
        if not ast.get_docstring(tree):
            faults.append(f"{name} does not say in its first line what it is for")
        if source.count("\n") > (150 if path in PAGES else 400):
            faults.append(f"{name} is too long")
        faults += [f"{name}: {function} is too long" for function in long_functions(tree)]
    assert faults == []


def long_functions(tree: ast.Module) -> list[str]:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [node.name for node in functions if (node.end_lineno or 0) - node.lineno >= 40]


def test_only_files_with_a_reason_and_packages_have_fewer_than_40_lines() -> None:
    short = [path for path in FILES if path.read_text().count("\n") < 40 and path.name != "__init__.py"]
    assert {str(path.relative_to(ROOT)) for path in short} == set(SHORT)


def test_the_public_interface_is_there_and_only_imported_when_used() -> None:
    for name in koderz_core.__all__:
        assert getattr(koderz_core, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        koderz_core.nothing  # noqa: B018 (looked up on purpose)


def test_the_host_parses_python_in_one_thread_at_a_time() -> None:
    own = CORE / "python_parser.py"
    inside = CORE / "sandbox" / "inside"  # runs in the process of the tests, which has one thread
    others = [path for path in CORE.rglob("*.py") if path != own and inside not in path.parents]
    used = [path for path in others if "ast.parse(" in path.read_text()]
    assert used == []
