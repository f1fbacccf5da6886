"""The packages of the ready set of repository tasks, with the SHA-256 of their source distributions.

Their tests are part of the distribution, need no network and no further package, and take a few seconds. koderz ships
none of their files: it reads them from the package index that you use.
"""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.errors import UsageError
from koderz_core.forge.package_index import Release

STANDARD = "standard"
"""The name of the ready set, in place of sources."""
TASKS = 300
"""Tasks of the ready set."""
RELEASES: tuple[Release, ...] = (
    Release("cachetools", "8.0.2", "30ac523adfc118b51d2b2e7bad8a0ddb31370dfe2700c7f10ca224f36ccf81e0"),
    Release("isodate", "0.7.2", "4cd1aa0f43ca76f4a6c6c0292a85f40b35ec2e43e315b59f06e6d32171a953e6"),
    Release("tinydb", "4.9.0", "6928b1fa785186bda7952a0ba05aaeedc883ede565ca9c7d608de44e5e75de70"),
    Release("voluptuous", "0.16.0", "006535e22fed944aec17bef6e8725472476194743c87bd233e912eb463f8ff05"),
    Release("mistune", "3.1.3", "a7035c21782b2becb6be62f8f25d3df81ccb4d6fa477a6525b15af06539f02a0"),
)
"""The largest package is the last: it makes the tasks that the others lack."""
PER_SOURCE = 50
"""Tasks of each source, for other sources than the ready set."""


def wanted(sources: Sequence[str], tasks: int | None) -> tuple[tuple[str | Release, ...], int]:
    """The sources, with pinned releases for the ready set, and the number of tasks to make. Raises UsageError.

    ``tasks`` None: those of the ready set, otherwise ``PER_SOURCE`` per source.
    """
    if STANDARD in sources:
        if len(sources) > 1:
            raise UsageError(f"{STANDARD} names a whole set of packages, so give no other source next to it.")
        return RELEASES, tasks or TASKS
    if len(set(sources)) < len(sources):
        raise UsageError("A source is given twice. Give each source once.")
    return tuple(sources), tasks or PER_SOURCE * len(sources)
