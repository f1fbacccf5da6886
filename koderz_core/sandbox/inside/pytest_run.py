"""Runs tests of a repository with pytest: one process per verdict, in a private copy of the tree.

The host sends the files of the copy, so that the process sees no other version of them. Its records go through a pipe
that the host reads: lines of JSON, each a list that begins with the nonce of this run. Exit code and printed text have
no meaning.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import io
import json
import os
import resource
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from . import confine, landlock, observe, seccomp
from .reporter import Reporter

Emit = Callable[[list[Any]], None]  # Any: values that JSON can represent
READY = "ready"
_CHANNEL = 200  # its descriptor: far from those that tests open and close
_HEAD = 8  # bytes with the length of the order
_BATCH_BYTES = 1 << 16
_OPEN_FILES = 256
_USAGE_ERROR = 4  # pytest.ExitCode


class Order(NamedTuple):
    """What to run. ``files``: paths in the tree and sizes, whose contents follow. ``ids``: the tests, None for all.

    ``paths``: the files with the tests, empty to search the tree. ``roots``: the folders of the tree that tests import
    from, "" for the tree itself.
    """

    nonce: str
    files: list[tuple[str, int]]
    ids: list[str] | None
    paths: list[str]
    roots: list[str]


class Setup(NamedTuple):
    """``work``: the folder for the copy and all other files. ``toolbox``: the folder with pytest and other modules.

    ``readable``: as in ``landlock.Readable``, None at tier ``limited``. ``filter``: the profile of system calls, "" for
    none. ``parent``: the process to die with, 0 for none.
    """

    work: str
    toolbox: str
    readable: list[list[str]] | None
    filter: seccomp.Profile | None
    parent: int
    cpu_seconds: int
    memory_bytes: int
    file_bytes: int
    processes: int


def main() -> None:
    """Receive an order, write the copy, restrict this process, and run the tests. It never returns."""
    setup = Setup(**json.loads(sys.argv.pop()))
    if setup.parent:
        confine.die_with_parent(setup.parent)
    order = _receive(setup.work)
    emitter = Emitter(_open_channel(), order.nonce)
    sys.path.insert(0, setup.toolbox)
    pytest_main = _load_pytest()
    sys.path.insert(0, setup.toolbox)
    observe.install(emitter.emit)
    _restrict(setup)
    sys.path[:0] = [f"{setup.work}/tree/{root}".rstrip("/") for root in order.roots]
    gc.collect()
    gc.freeze()
    emitter.emit([READY])
    emitter.flush()
    _run(pytest_main, order, emitter)


def _run(pytest_main: Callable[..., Any], order: Order, emitter: Emitter) -> None:
    """Run the tests and end this process, without the handlers that tests may have left behind."""
    end, errors = os._exit, io.StringIO()
    try:
        with contextlib.redirect_stderr(errors):
            code = int(pytest_main(arguments(order.paths), [Reporter(order.ids, emitter.emit, emitter.flush)]))
        if code == _USAGE_ERROR:
            emitter.emit(["internal", " ".join(errors.getvalue()[-2000:].split())])
        emitter.emit(["finish"])
        emitter.flush()
    finally:
        end(0)


def arguments(paths: Sequence[str]) -> list[str]:
    """The arguments of pytest: the settings of the tree, except additional options, which name plugins."""
    plugins = (word for name in ("cacheprovider", "terminal", "xdist", "faulthandler") for word in ("-p", f"no:{name}"))
    return [
        *plugins,
        *("-o", "addopts=", "-o", "required_plugins=", "-o", "xfail_strict=false"),
        *("--rootdir=.", "--capture=sys", "--continue-on-collection-errors"),
        *paths,
    ]


class Emitter:
    """Writes records to the channel in batches. Its functions are looked up once, before any code of the tree runs."""

    def __init__(self, fd: int, nonce: str) -> None:
        encode, write, waiting = json.JSONEncoder(separators=(",", ":")).encode, os.write, list[bytes]()
        join, take, size = b"".join, waiting.clear, [0]

        def flush() -> None:
            rest = memoryview(join(waiting))
            take()
            size[0] = 0
            while rest:
                rest = rest[write(fd, rest) :]

        def emit(record: list[Any]) -> None:
            line = encode([nonce, *record]).encode() + b"\n"
            waiting.append(line)
            size[0] += len(line)
            if size[0] > _BATCH_BYTES:
                flush()

        self.emit: Emit = emit
        self.flush = flush


def _receive(work: str) -> Order:
    """The order; its files are written to the folder ``tree``, which becomes the current one."""
    with open(0, "rb", closefd=False) as given:
        head = json.loads(given.read(int.from_bytes(given.read(_HEAD), "big")))
        order = Order(**head)
        for folder in ("tree", "home", "tmp"):
            os.mkdir(f"{work}/{folder}")  # noqa: PTH102 (pathlib would be loaded for this only)
        os.chdir(f"{work}/tree")
        made = {""}
        for path, size in order.files:
            _make_folder(path.rpartition("/")[0], made)
            with open(path, "wb") as file:  # noqa: PTH123 (as above)
                file.write(given.read(size))
    return order


def _make_folder(folder: str, made: set[str]) -> None:
    if folder not in made:
        _make_folder(folder.rpartition("/")[0], made)
        os.mkdir(folder)  # noqa: PTH102 (as above)
        made.add(folder)


def _open_channel() -> int:
    """Standard output becomes the channel, under another number; the null device takes the place of 0, 1 and 2."""
    channel = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _CHANNEL)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.close(null)
    return channel


def _load_pytest() -> Callable[..., Any]:
    """``pytest.main``; pytest is loaded before any code of the tree."""
    import pytest  # noqa: PLC0415 (only the toolbox has it)

    return pytest.main


def _restrict(setup: Setup) -> None:
    for kind, wanted in _limits(setup):
        hard = resource.getrlimit(kind)[1]
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (most, most))
    if setup.readable:
        seccomp.give_up_privileges()
        landlock.restrict(landlock.Readable(*map(tuple, setup.readable)))
    if setup.filter:
        seccomp.Filter(setup.filter).install()


def _limits(setup: Setup) -> Iterable[tuple[int, int]]:
    yield resource.RLIMIT_CORE, 0
    yield resource.RLIMIT_CPU, setup.cpu_seconds
    yield resource.RLIMIT_FSIZE, setup.file_bytes
    yield resource.RLIMIT_NOFILE, _OPEN_FILES
    yield resource.RLIMIT_STACK, confine.STACK_BYTES
    if setup.processes:
        yield resource.RLIMIT_NPROC, setup.processes
    if sys.platform != "darwin":  # its kernel refuses limits on address space
        yield resource.RLIMIT_AS, setup.memory_bytes
