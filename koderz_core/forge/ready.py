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
    Release("schema", "0.7.7", "7da553abd2958a19dc2547c388cde53398b39196175a9be59ea1caf5ab0a1807"),
    Release("tinydb", "4.9.0", "6928b1fa785186bda7952a0ba05aaeedc883ede565ca9c7d608de44e5e75de70"),
    Release("voluptuous", "0.16.0", "006535e22fed944aec17bef6e8725472476194743c87bd233e912eb463f8ff05"),
    Release("sqlparse", "0.6.1", "ca722573f848ff2d30e40ea30f53a104b7dea7635ea9285891263eb2c58fb6e7"),
    Release("cachetools", "8.0.2", "30ac523adfc118b51d2b2e7bad8a0ddb31370dfe2700c7f10ca224f36ccf81e0"),
)
"""The last package has the most functions with tests, so it makes the tasks that the others lack."""
PER_SOURCE = 50
"""Tasks of each source, for other sources than the ready set."""


def wanted(sources: Sequence[str], tasks: int | None) -> tuple[tuple[str | Release, ...], int]:
    """The sources, with pinned releases for the ready set, and the number of tasks to make. Raises UsageError.

    ``tasks`` None: those of the ready set, otherwise ``PER_SOURCE`` per source.
    """
    if STANDARD in sources:
        if len(sources) > 1:
            raise UsageError(f"{STANDARD} is the name of a set of packages. Give it as the only source.")
        return RELEASES, tasks or TASKS
    if len(set(sources)) < len(sources):
        raise UsageError("A source is given twice. Give each source once.")
    return tuple(sources), tasks or PER_SOURCE * len(sources)
