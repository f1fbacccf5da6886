"""Landlock: permanently limits the files that a process and its forks may open. Needs Linux 5.13, no privileges.

The process can read only the named files and write only to the null device and in the folders named for that. Anywhere
else it cannot create or move files, and it cannot execute any.
Newer kernels also refuse TCP (6.7), abstract Unix sockets and signals to processes outside (6.12). Not covered: UDP and
named Unix sockets, which seccomp refuses, and the existence, size and times of files.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from . import seccomp

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_VERSION = 1
_PATH_BENEATH = 1

# Rights on files, as bits (linux/landlock.h). How many of them a kernel knows depends on its ABI.
_WRITE_FILE, _READ_FILE, _READ_DIR = 2, 4, 8
_CHANGE_FOLDER = (
    16 | 32 | 128 | 256 | 512 | 1024 | 4096 | 8192 | 16384
)  # remove and make all but devices; refer; truncate
_RIGHTS_SINCE = {1: 13, 2: 14, 3: 15, 5: 16}
_TCP = 3  # bind, connect; since ABI 4
_SCOPES = 3  # abstract Unix sockets, signals; since ABI 6


class Readable(NamedTuple):
    """Files and folders that a program may read, folders whose names it may list, and folders that it may change."""

    paths: tuple[str, ...]
    listed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def abi() -> int:
    """The version of Landlock in this kernel; 0 if it has none or Landlock is disabled."""
    try:
        return seccomp.syscall(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def restrict(readable: Readable) -> None:
    """Forbid this process to open files that are not ``readable``. Paths that do not exist are skipped.

    Another call can only forbid more. Call ``seccomp.give_up_privileges`` before. Raises OSError without Landlock.
    """
    version = abi()
    with _opened(_new_ruleset(version)) as ruleset:
        for path in readable.paths:
            _allow(ruleset, path, _READ_FILE | _READ_DIR)
        for path in readable.listed:
            _allow(ruleset, path, _READ_DIR)
        for path in readable.changed:
            _allow(ruleset, path, _known(version) & (_WRITE_FILE | _READ_FILE | _READ_DIR | _CHANGE_FOLDER))
        _allow(ruleset, os.devnull, _READ_FILE | _WRITE_FILE)
        seccomp.syscall(_RESTRICT_SELF, ruleset, 0)


def _new_ruleset(version: int) -> int:
    """The descriptor of a set of rules that handles, and so forbids, every access that this version knows."""
    fields = [_known(version)]
    if version >= 4:
        fields.append(_TCP)
    if version >= 6:
        fields.append(_SCOPES)
    attributes = (ctypes.c_uint64 * len(fields))(*fields)
    return seccomp.syscall(_CREATE_RULESET, attributes, ctypes.sizeof(attributes), 0)


def _known(version: int) -> int:
    """All rights on files that this version knows."""
    return (1 << max((count for since, count in _RIGHTS_SINCE.items() if since <= version), default=13)) - 1


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError, PermissionError), _opened(os.open(path, os.O_PATH | os.O_CLOEXEC)) as file:
        if not stat.S_ISDIR(os.fstat(file).st_mode):
            rights &= ~_READ_DIR
        rule = ctypes.create_string_buffer(rights.to_bytes(8, "little") + file.to_bytes(4, "little"), 12)
        seccomp.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)


@contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
