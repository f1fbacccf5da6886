"""The environment of a worker: its interpreter, its namespaces, and the files that it may read."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import SandboxError
from koderz_core.records import Isolation

INSIDE = Path(__file__).resolve().parent / "inside"
ENVIRONMENT = {"PYTHONHASHSEED": "0", "LD_BIND_NOW": "1"}
"""All environment variables of a worker.

The hash seed is fixed, so that sets of strings have the same order and a program the same verdict each time. Libraries
are linked at the start, not in each fork at the first call of a function.
"""
_LIBRARY_FOLDERS = ("/usr/lib", "/usr/lib64", "/lib", "/lib64")
_BESIDES = ("/usr/share/zoneinfo", "/etc/ld.so.cache")
_INSTALLED = frozenset({"site-packages", "dist-packages"})  # the packages may include datasets with their answers


@dataclass(frozen=True, slots=True)
class Readable:
    """Files and folders that a program may read, and folders whose names it may list; absolute paths."""

    paths: tuple[str, ...]
    listed: tuple[str, ...]


def command(
    isolation: Isolation,
    bwrap: str | None,
    mounts: Sequence[str] = (),
    environment: Mapping[str, str] = ENVIRONMENT,
) -> list[str]:
    """The command that runs a script in ``INSIDE`` at this tier, without the path of the script.

    ``bwrap``: the path of bubblewrap; ``mounts``: its options for further mounts. The script itself adds the other
    layers. Start it with ``environment``. A hardened worker dies with the thread that started it, so start it from a
    thread that outlives it.
    Raises SandboxError for ``hardened`` without bubblewrap.
    """
    python = [str(_interpreter()), "-s", "-S", "-P"]
    if isolation != "hardened":
        return python
    if bwrap is None:
        raise SandboxError(
            "The sandbox tier `hardened` needs bubblewrap. Install bubblewrap, for example with `apt install "
            "bubblewrap`, or use the sandbox tier `strong`."
        )
    variables = [word for name, value in environment.items() for word in ("--setenv", name, value)]
    return [bwrap, *_NAMESPACES, *variables, *_root(), *mounts, "--remount-ro", "/", "--chdir", "/", "--", *python]


def readable() -> Readable:
    """The standard library, but no installed packages; shared libraries; time zones."""
    library = _standard_library()
    modules = [str(path) for path in sorted(library.iterdir()) if path.name not in _INSTALLED]
    return Readable((*modules, *_shared_libraries(), *_own_libraries(), *_BESIDES), (str(library),))


_NAMESPACES = (
    *("--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
    *("--cap-drop", "ALL", "--hostname", "koderz"),
)


def _root() -> Iterator[str]:
    """A read-only root with only what the interpreter needs: no home, no /proc, no /tmp, and only the null device."""
    for folder in map(Path, _LIBRARY_FOLDERS):
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), str(folder))
        else:
            yield from ("--ro-bind-try", str(folder), str(folder))
    for path in (str(_interpreter()), str(_standard_library()), *_own_libraries(), *_BESIDES, str(INSIDE)):
        yield from ("--ro-bind-try", path, path)
    yield from ("--dev-bind", os.devnull, os.devnull)


def _interpreter() -> Path:
    """The interpreter behind that of a virtual environment, whose folder is not in the sandbox."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _standard_library() -> Path:
    return Path(os.__file__).resolve().parent


def _own_libraries() -> list[str]:
    """Libraries of an interpreter with its own prefix, such as libpython."""
    folder = Path(sys.base_exec_prefix).resolve() / "lib"
    return [] if str(folder) in _LIBRARY_FOLDERS else _in(folder)


def _shared_libraries() -> list[str]:
    """The libraries that extension modules need: Debian's folders, or the single files on other systems."""
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    folders = [
        folder for start in ("/usr/lib", "/lib") if multiarch and Path(folder := f"{start}/{multiarch}").is_dir()
    ]
    return folders or [path for folder in _LIBRARY_FOLDERS for path in _in(Path(folder))]


def _in(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.glob("*.so*"))
