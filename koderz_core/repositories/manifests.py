"""The files in which a repository describes itself: pyproject.toml, package.json, Makefile and others of its root.

A manifest that cannot be parsed is reported as a fault, and its facts are missing.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from koderz_core.records.repositories import Omitted, Project
from koderz_core.repositories.folder_files import read_file, text_of

_INI = ("setup.cfg", "tox.ini", "pytest.ini", ".flake8", "mypy.ini")
_TOML = ("pyproject.toml", "Cargo.toml", "ruff.toml", ".ruff.toml")
_MAKE = ("GNUmakefile", "makefile", "Makefile")
_TARGET = re.compile(r"^([A-Za-z][\w-]*)\s*:(?![=:])", re.MULTILINE)


@dataclass(frozen=True)
class Manifests:
    """The parsed manifests by name. ``there``: the names of all files in the root of the repository.

    ``tables`` are JSON-like values of unknown shape: read them with ``get``.
    """

    there: frozenset[str] = frozenset()
    tables: Mapping[str, Any] = field(default_factory=dict)  # Any: see above
    targets: tuple[str, ...] = ()
    faults: tuple[Omitted, ...] = ()

    def get(self, name: str, *keys: str) -> Any:  # Any: see above
        """The value at these keys of a manifest, None if it is missing."""
        value = self.tables.get(name)
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def table(self, name: str, *keys: str) -> Mapping[str, Any]:  # Any: see above
        """The table at these keys, empty if there is none."""
        value = self.get(name, *keys)
        return value if isinstance(value, Mapping) else {}

    def has(self, name: str, *keys: str) -> bool:
        """Whether a manifest has a value at these keys."""
        return self.get(name, *keys) is not None

    @property
    def makefile(self) -> str:
        """The name of the Makefile that make would use."""
        return next((name for name in _MAKE if name in self.there), "Makefile")


def read_manifests(root: Path, paths: Iterable[str]) -> Manifests:
    """Parse the manifests in the root of a repository with these files."""
    there = frozenset(path for path in paths if "/" not in path)
    tables: dict[str, Any] = {}  # Any: values of unknown shape
    faults = []
    for name in sorted(there & {*_TOML, *_INI, "package.json"}):
        text = text_of(read_file(root, name) or b"")
        try:
            tables[name] = _parsed(name, text or "")
        except (ValueError, RecursionError, configparser.Error) as error:
            faults.append(Omitted(name, f"is not valid: {str(error).splitlines()[0] if str(error) else 'empty'}"))
    make = next((name for name in _MAKE if name in there), "")
    targets = _TARGET.findall(text_of(read_file(root, make) or b"") or "") if make else []
    return Manifests(there, tables, tuple(dict.fromkeys(targets)), tuple(faults))


def project_of(manifests: Manifests) -> Project:
    """The project as pyproject.toml, setup.cfg, package.json or Cargo.toml describes it; the first of them counts."""
    sources = (
        ("pyproject.toml", ("project",)),
        ("pyproject.toml", ("tool", "poetry")),
        ("setup.cfg", ("metadata",)),
        ("package.json", ()),
        ("Cargo.toml", ("package",)),
    )
    for source, keys in sources:
        table = manifests.table(source, *keys)
        if table.get("name"):
            texts = {name: _text(table.get(name)) for name in ("name", "version", "description")}
            requires = table.get("requires-python") or manifests.get("setup.cfg", "options", "python_requires")
            return Project(
                **texts,
                requires_python=_text(requires) if source != "package.json" else "",
                dependencies=_dependencies(source, table, manifests),
                source=source,
            )
    return Project()


def _dependencies(source: str, table: Mapping[str, Any], manifests: Manifests) -> tuple[str, ...]:  # Any: see above
    declared = table.get("dependencies")
    if source == "Cargo.toml":
        declared = manifests.get(source, "dependencies")
    if source == "setup.cfg":
        declared = _text(manifests.get(source, "options", "install_requires")).splitlines()
    if isinstance(declared, Mapping | list):
        return tuple(text for entry in declared if (text := _text(entry).strip()))
    return ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parsed(name: str, text: str) -> Mapping[str, Any]:  # Any: values of unknown shape
    if name == "package.json":
        parsed = json.loads(text)
        if not isinstance(parsed, dict):
            raise ValueError("not an object")
        return cast(dict[str, Any], parsed)
    if name in _TOML:
        return tomllib.loads(text)
    reader = configparser.RawConfigParser(strict=False)
    reader.read_string(text)
    return {section: dict(reader.items(section)) for section in reader.sections()}
