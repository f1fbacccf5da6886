"""Where the programs of a repository start: declared scripts, packages and files that can be run, usual file names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from koderz_core.python_parser import parse
from koderz_core.records.repositories import EntryPoint, PythonModule, RepositoryFile
from koderz_core.repositories.folder_files import read_file, text_of
from koderz_core.repositories.manifests import Manifests

PROGRAMS = {
    *("app.py", "main.py", "manage.py", "wsgi.py", "asgi.py", "streamlit_app.py", "main.go", "index.js", "server.js"),
    *("src/main.rs", "src/index.ts", "src/index.tsx", "src/main.ts", "src/main.tsx"),
}
"""The usual names of files that start a program, in the root of a repository."""
_PYPROJECT, _SETUP, _NODE = "pyproject.toml", "setup.cfg", "package.json"
_GROUPS = ("console_scripts", "gui_scripts")


def entry_points_of(
    root: Path, manifests: Manifests, files: Sequence[RepositoryFile], modules: Sequence[PythonModule]
) -> tuple[EntryPoint, ...]:
    """The entry points: the declared ones first, single files last. ``modules`` of tests are left out."""
    tests = {file.path for file in files if file.kind == "test"}
    paths = {file.path for file in files}
    found = [
        *_declared(manifests),
        *(_in_setup(root) if "setup.py" in paths else ()),
        *_of_packages(module for module in modules if module.path not in tests),
        *(EntryPoint("program", name, "", name) for name in sorted(PROGRAMS & paths)),
        *(EntryPoint("program", f"go run ./{_folder(path)}", "", path) for path in sorted(paths) if _is_command(path)),
    ]
    found.sort(key=lambda it: it.kind == "file")
    return tuple({(it.name, it.target): it for it in reversed(found)}.values())[::-1]


def _declared(manifests: Manifests) -> Iterator[EntryPoint]:
    for keys in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        yield from _scripts(manifests.table(_PYPROJECT, *keys), _PYPROJECT)
    for group, entries in manifests.table(_PYPROJECT, "project", "entry-points").items():
        if isinstance(entries, Mapping):
            yield from (
                EntryPoint(f"plug-in of {group}", str(name), str(of), _PYPROJECT) for name, of in entries.items()
            )
    for group in _GROUPS:
        lines = str(manifests.get(_SETUP, "options.entry_points", group) or "").splitlines()
        yield from _scripts(dict(_pair(line) for line in lines if "=" in line), _SETUP)
    yield from _of_other_languages(manifests)


def _of_other_languages(manifests: Manifests) -> Iterator[EntryPoint]:
    programs = manifests.get(_NODE, "bin")
    if isinstance(programs, str):
        programs = {str(manifests.get(_NODE, "name") or "program"): programs}
    yield from _scripts(programs if isinstance(programs, Mapping) else {}, _NODE)
    if isinstance(target := manifests.get(_NODE, "main"), str):
        yield EntryPoint("main", target, "", _NODE)
    declared = manifests.get("Cargo.toml", "bin")
    for program in declared if isinstance(declared, list) else ():
        if isinstance(program, Mapping):
            yield EntryPoint("script", str(program.get("name")), str(program.get("path") or ""), "Cargo.toml")


def _scripts(table: Mapping[str, object], source: str) -> Iterator[EntryPoint]:
    for name, target in table.items():
        yield EntryPoint("script", str(name), target if isinstance(target, str) else "", source)


def _pair(line: str) -> tuple[str, str]:
    name, _, target = line.partition("=")
    return name.strip(), target.strip()


def _in_setup(root: Path) -> Iterator[EntryPoint]:
    """The scripts in a call of ``setup``, as far as they are written there as constants."""
    try:
        tree = parse(text_of(read_file(root, "setup.py") or b"") or "", "<setup.py of a repository>")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "entry_points":
            try:
                declared = ast.literal_eval(node.value)
            except (ValueError, TypeError, RecursionError, MemoryError):
                continue
            for group in _GROUPS if isinstance(declared, dict) else ():
                lines = declared.get(group) or ()
                lines = lines.splitlines() if isinstance(lines, str) else lines
                known = lines if isinstance(lines, list | tuple | set) else ()
                yield from _scripts(dict(_pair(str(line)) for line in known if "=" in str(line)), "setup.py")


def _of_packages(modules: Iterator[PythonModule]) -> Iterator[EntryPoint]:
    for module in modules:
        if module.path.endswith("__main__.py"):
            yield EntryPoint("module", f"python -m {module.name.removesuffix('.__main__')}", "", module.path)
        elif module.has_main:
            yield EntryPoint("file", f"python {module.path}", "", module.path)


def _is_command(path: str) -> bool:
    place = PurePosixPath(path)
    return place.name == "main.go" and place.parts[0] == "cmd"


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
