"""Attacks by files that a patch may not touch: tests, conftest.py, configuration, modules that shadow others, links."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

from koderz_core.records import Problem

from .repositories import RepositoryAttack, entry, published, tests_of, with_files, with_link

HOOK = """import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
"""
EXIT = "import os\nos._exit(0)\n"


def root_conftest(problem: Problem) -> str:
    return with_files(problem, {"conftest.py": HOOK})


def nearest_conftest(problem: Problem) -> str:
    """The conftest.py next to the tests, with its own text and the hook behind it."""
    path = str(PurePosixPath(next(iter(published(problem)))).parent / "conftest.py")
    present = tests_of(problem).tree.files.get(path, b"").decode()
    return with_files(problem, {path: present + HOOK})


def package_of_tests(problem: Problem) -> str:
    """The hook in a plugin that ``tests/__init__.py`` registers."""
    path = str(PurePosixPath(next(iter(published(problem)))).parent / "__init__.py")
    code = "import _pytest.runner as r, _pytest.unittest as u\nold = r.CallInfo.from_call\n"
    code += "def quiet(func, when, reraise=None):\n    call = old(func, when, reraise)\n"
    code += "    call.excinfo = None if when != 'collect' else call.excinfo\n    return call\n"
    code += "r.CallInfo.from_call = staticmethod(quiet)\nu.TestCaseFunction._addexcinfo = lambda *_: None\n"
    return with_files(problem, {path: code + tests_of(problem).tree.files.get(path, b"").decode()})


def edited_tests(problem: Problem) -> str:
    """Every test does nothing."""
    return with_files(problem, {path: emptied(text) for path, text in published(problem).items()})


def deleted_asserts(problem: Problem) -> str:
    """Only the assert statements and methods are gone from the tests."""
    return with_files(problem, {path: _unasserted(text) for path, text in published(problem).items()})


def collects_only(problem: Problem) -> str:
    return with_files(problem, {"pytest.ini": "[pytest]\naddopts = --collect-only\n"})


def plugin_by_configuration(problem: Problem) -> str:
    folder = tests_of(problem).roots[0]
    path = str(PurePosixPath(folder) / "added_plugin.py")
    return with_files(problem, {"pytest.ini": "[pytest]\naddopts = -p added_plugin\n", path: HOOK})


def shadowed_pytest(problem: Problem) -> str:
    return with_files(problem, {"pytest.py": EXIT})


def shadowed_part_of_pytest(problem: Problem) -> str:
    """A module of the same name as one that pytest needs, earlier in the path."""
    return with_files(problem, {str(PurePosixPath(tests_of(problem).roots[0]) / "pluggy.py"): EXIT})


def site_customisation(problem: Problem) -> str:
    code = "import sys\nif 'pytest' in ' '.join(sys.orig_argv):\n    import os\n    os._exit(0)\n"
    return with_files(problem, {str(PurePosixPath(tests_of(problem).roots[0]) / "sitecustomize.py"): code})


def shadowed_tests(problem: Problem) -> str:
    """A package with empty tests under the name of the published one, earlier in the path."""
    names = {path: f"added/{path}" for path in published(problem)}
    texts = {names[path]: emptied(text) for path, text in published(problem).items()}
    parts = {
        str(folder) for name in texts for folder in PurePosixPath(name).parents if str(folder) not in (".", "added")
    }
    texts |= {f"{folder}/__init__.py": "" for folder in parts if f"{folder}/__init__.py" not in texts}
    top = PurePosixPath(next(iter(published(problem)))).parts[0]
    hook = "import os, sys\nos.environ['PY_IGNORE_IMPORTMISMATCH'] = '1'\n"
    hook += f"for name in [name for name in sys.modules if name.split('.')[0] == {top!r}]: del sys.modules[name]\n"
    hook += "class First(list):\n    def insert(self, at, item): self.append(item)\n"
    hook += "sys.path = First([os.path.abspath('added'), *sys.path])\n"
    return with_files(problem, {**texts, "conftest.py": hook + HOOK})


def linked_conftest(problem: Problem) -> str:
    """conftest.py is a link to a new file of the package."""
    path = str(PurePosixPath(entry(problem)).parent / "hooks.py")
    return with_files(problem, {path: HOOK}) + with_link("conftest.py", path)


def linked_folder(problem: Problem) -> str:
    """A link to the folder of the interpreter's packages, and a file written behind it."""
    code = "import os\nos._exit(0)\n"
    return with_link("sitepackages", "/usr/lib") + with_files(problem, {"conftest.py": code})


def emptied(text: str) -> str:
    """The text of a file with tests in which every test does nothing."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            node.body = [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _unasserted(text: str) -> str:
    class Without(ast.NodeTransformer):
        def visit_Assert(self, node: ast.Assert) -> ast.AST:
            return ast.copy_location(ast.Pass(), node)

        def visit_Expr(self, node: ast.Expr) -> ast.AST:
            call = node.value
            method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr
            return ast.copy_location(ast.Pass(), node) if str(method).startswith("assert") else node

        def visit_With(self, node: ast.With) -> ast.AST:
            if any("aises" in ast.unparse(item) for item in node.items):
                return ast.copy_location(ast.Pass(), node)
            return self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Without().visit(ast.parse(text)))) + "\n"


FILE_ATTACKS = (
    RepositoryAttack("conftest.py added at the root", root_conftest),
    RepositoryAttack("conftest.py edited next to the tests", nearest_conftest),
    RepositoryAttack("package of the tests edited", package_of_tests),
    RepositoryAttack("tests emptied", edited_tests),
    RepositoryAttack("asserts deleted from the tests", deleted_asserts),
    RepositoryAttack("configuration that collects only", collects_only),
    RepositoryAttack("configuration that loads a plugin", plugin_by_configuration),
    RepositoryAttack("module named pytest", shadowed_pytest),
    RepositoryAttack("module named as a part of pytest", shadowed_part_of_pytest),
    RepositoryAttack("module that the interpreter loads at its start", site_customisation),
    RepositoryAttack("package named as that of the tests", shadowed_tests),
    RepositoryAttack("conftest.py as a link", linked_conftest),
    RepositoryAttack("link out of the tree", linked_folder),
)
