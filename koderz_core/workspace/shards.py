"""Shards of benchmarks: merging the journals of all parts into the journal of the whole benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.errors import UsageError
from koderz_core.input_files import expand_home
from koderz_core.runner.shards import Merged, merge, shards_of

__all__ = ["Merged", "Shards"]


@dataclass(frozen=True, slots=True)
class Shards:
    """Merges shards into the data folder."""

    settings: Settings

    def merge(self, names: Sequence[str], *, partial: bool = False) -> Merged:
        """Merge shards and return the result. The journals of the shards stay unchanged.

        ``names``: journals, data folders with journals, or ids or names of benchmarks whose shards are in this data
        folder. ``partial``: shards or results may be missing. Raises PlanError, UsageError, JournalError.
        """
        paths = dict.fromkeys(path.resolve() for name in names for path in self._journals(name))
        return merge(list(paths), self.settings.journals_dir, partial=partial)

    def _journals(self, name: str) -> Iterator[Path]:
        path = expand_home(name)
        if path.is_file():
            yield path
            return
        within = path / "journals" if (path / "journals").is_dir() else path
        found = sorted(within.glob("bench_*-of-*.jsonl")) if path.is_dir() else []
        found = found or shards_of(self.settings.journals_dir, name)
        if not found:
            raise UsageError(
                f"{name} is not a file, and {self.settings.journals_dir} contains no shards of a benchmark with this "
                "id or name. Give the paths of the shards' journals."
            )
        yield from found
