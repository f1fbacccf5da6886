"""The installed modules that the tests of a repository may import: pytest, what it needs, and what a task names.

Each is found by itself. The folder of all packages stays out of the sandbox, because a package may be a dataset with
its answers.
"""

from __future__ import annotations

import sysconfig
from collections.abc import Sequence
from functools import lru_cache
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

from koderz_core.errors import DataError, SandboxError

_OF_PYTEST = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
_OF_OLD_PYTHONS = ("exceptiongroup", "tomli", "typing_extensions", "py")
EXTRA = "repositories"


@lru_cache(256)
def toolbox(needs: Sequence[str] = ()) -> tuple[Path, ...]:
    """The files and folders of pytest's modules and of the modules ``needs``.

    Raises SandboxError if pytest is not installed, DataError if another module is not.
    """
    folders = _folders()
    own = [_found(name, folders) for name in _OF_PYTEST]
    if None in own:
        raise SandboxError(_MISSING)
    asked = {name: _found(name, folders) for name in needs}
    if missing := [name for name, path in asked.items() if path is None]:
        raise DataError(
            f"The tests of this repository import modules that are not installed: {', '.join(map(repr, missing))}. "
            "Install them in the Python environment of koderz, or omit the repository."
        )
    more = (_found(name, folders) for name in _OF_OLD_PYTHONS)
    return tuple(dict.fromkeys(path for path in (*own, *more, *asked.values()) if path))


_MISSING = (
    f"The tests of repositories run with pytest, which is not installed. Install it: pip install 'koderz[{EXTRA}]'"
)


def _folders() -> list[str]:
    """The folders of installed packages; that of pytest first."""
    try:
        own = str(metadata.distribution("pytest").locate_file(""))
    except metadata.PackageNotFoundError:
        raise SandboxError(_MISSING) from None
    return list(dict.fromkeys([own, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))


def _found(name: str, folders: list[str]) -> Path | None:
    """The folder of a package or the file of a module; None if there is none, or if its files are in several places."""
    if not name.isidentifier():
        return None
    spec = PathFinder.find_spec(name, folders)
    if spec is None:
        return None
    places = [*spec.submodule_search_locations] if spec.submodule_search_locations is not None else [spec.origin or ""]
    return Path(places[0]).resolve() if len(places) == 1 and places[0] else None
