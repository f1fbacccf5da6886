"""The packages of the ready set of repository tasks, with the SHA-256 of their source distributions.

Their tests are part of the distribution, need no network and no further package, and take a few seconds. koderz ships
none of their files: it reads them from the package index that you use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.errors import UsageError
from koderz_core.forge.package_index import Release

STANDARD = "standard"
"""The name of the ready set, in place of sources."""
TASKS = 300
"""Tasks of the ready set."""
RELEASES: tuple[Release, ...] = (
    Release("cachetools", "8.0.2", "30ac523adfc118b51d2b2e7bad8a0ddb31370dfe2700c7f10ca224f36ccf81e0"),
    Release("sqlparse", "0.6.1", "ca722573f848ff2d30e40ea30f53a104b7dea7635ea9285891263eb2c58fb6e7"),
    Release("tinydb", "4.9.0", "6928b1fa785186bda7952a0ba05aaeedc883ede565ca9c7d608de44e5e75de70"),
    Release("voluptuous", "0.16.0", "006535e22fed944aec17bef6e8725472476194743c87bd233e912eb463f8ff05"),
    Release("mistune", "3.1.3", "a7035c21782b2becb6be62f8f25d3df81ccb4d6fa477a6525b15af06539f02a0"),
)


@dataclass(frozen=True, slots=True)
class Share:
    """A source and the number of tasks to make from it. ``release``: the pinned release of the ready set."""

    source: str
    tasks: int
    release: Release | None = None


def shares_of(sources: Sequence[str], tasks: int | None) -> tuple[Share, ...]:
    """The sources with their shares of the tasks, as even as possible. Raises UsageError.

    ``tasks`` None: those of the ready set, otherwise 50 per source.
    """
    if STANDARD in sources:
        if len(sources) > 1:
            raise UsageError(f"{STANDARD} names a whole set of packages, so give no other source next to it.")
        pinned = {f"{release.name}=={release.version}": release for release in RELEASES}
        return _divided(list(pinned), tasks or TASKS, pinned)
    if len(set(sources)) < len(sources):
        raise UsageError("A source is given twice. Give each source once.")
    return _divided(sources, tasks or 50 * len(sources), {})


def _divided(sources: Sequence[str], tasks: int, pinned: dict[str, Release]) -> tuple[Share, ...]:
    each, rest = divmod(tasks, len(sources))
    return tuple(Share(name, each + (place < rest), pinned.get(name)) for place, name in enumerate(sources))
