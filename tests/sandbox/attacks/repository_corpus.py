"""All attacks on the judge of repositories, and the correct implementations that were written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from koderz_core.patches import PatchError, apply_patch, make_patch
from koderz_core.records import Problem

from .repositories import tests_of
from .repository_files import FILE_ATTACKS
from .repository_observer import OBSERVER_ATTACKS
from .repository_runner import RUNNER_ATTACKS
from .repository_twins import LIMIT, TWIN_ATTACKS

ATTACKS = (*FILE_ATTACKS, *RUNNER_ATTACKS, *OBSERVER_ATTACKS, *TWIN_ATTACKS)
"""Those that the judge must stop. ``LIMIT`` contains the published answers and is not one of them."""
HONEST = Path(__file__).parents[1] / "honest"
"""One folder for each package and version; each file is a diff of the published tree."""


@dataclass(frozen=True, slots=True)
class Written:
    """A correct implementation by hand, as a diff of the published tree ``tree``."""

    tree: str
    name: str
    diff: str

    def program(self, problem: Problem) -> str | None:
        """The patch that makes the broken tree of a task the published one with this change; None if it cannot be."""
        files = {path: data for path, data in tests_of(problem).tree.files.items() if path in problem.public.files}
        published = {path: data.decode() for path, data in files.items()}
        try:
            changed = apply_patch(self.diff, published)
        except PatchError:
            return None
        return make_patch(problem.public.files, {**problem.public.files, **changed})


def written() -> Iterator[Written]:
    for path in sorted(HONEST.glob("*/*.diff")):
        yield Written(path.parent.name, path.stem, path.read_text())


__all__ = ["ATTACKS", "LIMIT", "Written", "written"]
