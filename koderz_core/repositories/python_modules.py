"""The Python modules of a repository: their definitions, and which modules and packages each of them imports.

Only the syntax tree is read; nothing is imported or run. A file that Python cannot parse is a module with a fault.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import PurePosixPath

from koderz_core.python_parser import parse, silence
from koderz_core.records.repositories import Definition, DefinitionKind, PythonModule

SOURCE_FOLDERS = ("src", "lib", "python")
"""Folders whose content is importable although they are no packages."""
_STANDARD = sys.stdlib_module_names | {"_typeshed", "annotationlib", "compression", "test"}
"""With modules of newer versions of Python, and those that Python's own list leaves out."""
_FILENAME = "<file of a repository>"
_LONGEST_SUMMARY = 200
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = _Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: ``module`` with its dots, after ``level`` dots of a relative import.

    ``name``: the name imported from the module, which may be a module too.
    """

    module: str
    level: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A module before its imports are resolved."""

    module: PythonModule
    imports: tuple[Import, ...] = ()


def parse_module(path: str, source: str) -> Parsed:
    """The definitions and imports of a Python file."""
    silence(_FILENAME)
    module = PythonModule(path, "")
    try:
        tree = parse(source, _FILENAME)
        paragraph = " ".join((ast.get_docstring(tree) or "").strip().partition("\n\n")[0].split())
        summary = paragraph.partition(". ")[0][:_LONGEST_SUMMARY]
        return Parsed(
            replace(module, summary=summary, definitions=_definitions_in(tree), has_main=_has_main(tree)),
            tuple(dict.fromkeys(_imports(tree))),
        )
    except SyntaxError as error:
        return Parsed(replace(module, fault=f"syntax error in line {error.lineno or '?'}"))
    except (ValueError, RecursionError, MemoryError):
        return Parsed(replace(module, fault="cannot be parsed"))


def _definitions_in(tree: ast.Module) -> tuple[Definition, ...]:
    """Classes and functions, also those inside others, in the order of their lines."""
    waiting: list[tuple[str, bool, ast.AST]] = [("", False, tree)]
    found = []
    while waiting:
        prefix, in_class, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _Scope):
                found.append(_definition(prefix, child, in_class=in_class))
                waiting.append((f"{prefix}{child.name}.", isinstance(child, ast.ClassDef), child))
            else:
                waiting.append((prefix, in_class, child))
    return tuple(sorted(found, key=lambda it: (it.line, it.name)))


def _definition(prefix: str, node: _Scope, *, in_class: bool) -> Definition:
    typed = isinstance(node, _Function) and _is_typed(node, in_class=in_class)
    kind: DefinitionKind = "class" if isinstance(node, ast.ClassDef) else "function"
    end = node.end_lineno or node.lineno
    return Definition(f"{prefix}{node.name}", kind, node.lineno, end, typed, ast.get_docstring(node, False) is not None)


def _is_typed(node: _Function, *, in_class: bool) -> bool:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if in_class and positional and positional[0].arg in ("self", "cls", "mcs"):
        positional = positional[1:]
    others = [it for it in (arguments.vararg, arguments.kwarg) if it]
    hinted = all(it.annotation for it in (*positional, *arguments.kwonlyargs, *others))
    return hinted and (node.returns is not None or node.name == "__init__")


def resolve_modules(parsed: list[Parsed]) -> tuple[PythonModule, ...]:
    """The modules with their names, and with their imports divided into own modules and third-party packages."""
    names = _Names([it.module.path for it in parsed])
    resolved = []
    for it in parsed:
        path = it.module.path
        targets = {imported: names.target(imported, path) for imported in it.imports}
        own = {target for target in targets.values() if target} - {path}
        others = {
            imported.module.partition(".")[0] for imported in targets if not (targets[imported] or imported.level)
        }
        standard = others & _STANDARD
        resolved.append(
            replace(
                it.module,
                name=names.of[path],
                imports=tuple(sorted(own)),
                packages=tuple(sorted(others - standard)),
                standard=tuple(sorted(standard)),
            )
        )
    return tuple(resolved)


@dataclass
class _Names:
    """The names under which the Python files of a repository can be imported."""

    paths: list[str]
    of: dict[str, str] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    _by_name: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files = set(self.paths)
        for path in self.paths:
            parts = _without_init(path.rpartition(".")[0].split("/"))
            start = self._start(path)
            if start == len(parts):  # an __init__.py in the folder itself
                start = max(0, len(parts) - 1)
            self.of[path] = ".".join(parts[start:]) or PurePosixPath(path).stem
            folders = {start, 0, *(1 for folder in SOURCE_FOLDERS if parts[:1] == [folder] and len(parts) > 1)}
            for first in folders:
                self._by_name.setdefault(".".join(parts[first:]), []).append(path)

    def target(self, imported: Import, importer: str) -> str | None:
        """The path of the module of the repository that an import loads, None if it loads none."""
        if imported.level:
            return self._relative(imported, importer)
        whole = f"{imported.module}.{imported.name}" if imported.name else imported.module
        parts = whole.split(".")
        standard = parts[0] in _STANDARD
        for length in range(len(parts), 1 if standard else 0, -1):
            if path := self._named(".".join(parts[:length]), importer):
                return path
        return None

    def _start(self, path: str) -> int:
        """The number of folders above the package that contains a file, or above the file if no package does."""
        folders = path.split("/")[:-1]
        start = len(folders)
        while start and "/".join([*folders[:start], "__init__.py"]) in self.files:
            start -= 1
        return start

    def _named(self, name: str, importer: str) -> str | None:
        """A name without dots must be where Python may look for it: at a root, or in the same top-level folder."""
        folder = importer.rpartition("/")[0]
        found = [
            path
            for path in self._by_name.get(name, ())
            if "." in name or _on_path(path.rpartition("/")[0], folder, name)
        ]
        return max(found, key=lambda path: (_shared(path, importer), -len(path), path), default=None)

    def _relative(self, imported: Import, importer: str) -> str | None:
        folders = importer.split("/")[:-1]
        if imported.level - 1 > len(folders):
            return None
        base = folders[: len(folders) - imported.level + 1] + [part for part in imported.module.split(".") if part]
        for parts in ([*base, imported.name] if imported.name else base, base):
            stem = "/".join(parts)
            for path in (f"{stem}.py", f"{stem}/__init__.py".lstrip("/"), f"{stem}.pyi"):
                if path in self.files:
                    return path
        return None


def _on_path(folder: str, importer: str, name: str) -> bool:
    """Whether ``import name`` may find the module of that folder from a file in the folder ``importer``."""
    if folder.rpartition("/")[2] == name:  # the __init__.py of a package
        folder = folder.rpartition("/")[0]
    beside = folder.partition("/")[0] == importer.partition("/")[0]  # pytest puts folders of tests on the path
    return folder in ("", *SOURCE_FOLDERS) or beside


def _shared(path: str, other: str) -> int:
    """How many folders two paths have in common."""
    pairs = zip(path.split("/")[:-1], other.split("/")[:-1], strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _without_init(parts: list[str]) -> list[str]:
    return parts[:-1] if parts[-1] == "__init__" else parts


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:  # `import a.b` makes `a` known too
                yield Import(alias.name.partition(".")[0])
                yield Import(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Import(node.module or "", node.level, "" if alias.name == "*" else alias.name)


def _has_main(tree: ast.Module) -> bool:
    """Whether it has ``if __name__ == "__main__":``."""
    tests = (node.test for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Compare))
    named = (test for test in tests if isinstance(test.left, ast.Name) and test.left.id == "__name__")
    return any(isinstance(it, ast.Constant) and it.value == "__main__" for test in named for it in test.comparators)
