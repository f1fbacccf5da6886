"""The files of recorded experiments, from what the journals say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import DataError
from koderz_core.export.dump import DumpFile, files_of, named
from koderz_core.export.dump_writing import write
from koderz_core.store.details import Naming, Several
from koderz_core.store.results import Results

AT_ONCE = 16  # experiments: opening the store takes as long as reading two, and everybody waits while it is read


@dataclass(frozen=True, slots=True)
class Dumped:
    """How many files of how many experiments stand in ``folder`` now."""

    folder: Path
    experiments: int = 0
    files: int = 0

    def and_of(self, results: Results, experiments: Sequence[str]) -> Dumped:
        """With the files of a few experiments more, which this writes; one in which nothing has happened has none.

        Raises DataError, StoreError, UnknownNameError.
        """
        found = read(results, experiments, named)
        made = [files for one in found.details if (files := files_of(one, found.texts))]
        for files in made:
            write(files, self.folder)
        return Dumped(self.folder, self.experiments + len(made), self.files + sum(map(len, made)))


def dump(results: Results, chosen: str, folder: Path) -> Dumped:
    """Write the files of an experiment, or of all experiments of a benchmark, by id. Raises as ``Dumped.and_of``."""
    of_benchmark = chosen.startswith("bench_")
    experiments = [row.id for row in results.experiments(chosen)] if of_benchmark else [chosen]
    write((), folder)  # where nothing can be written, that is said also of what has no files yet
    dumped = Dumped(folder)
    for start in range(0, len(experiments), AT_ONCE):
        dumped = dumped.and_of(results, experiments[start : start + AT_ONCE])
    return dumped


def dump_files(results: Results, experiment: str) -> tuple[DumpFile, ...]:
    """The files of the experiment of that id. Raises DataError, StoreError, UnknownNameError."""
    found = read(results, [experiment], named)
    return files_of(found.details[0], found.texts)


def read(results: Results, experiments: Sequence[str], naming: Naming) -> Several:
    """As ``Results.several``; raises DataError besides if a text is missing."""
    found = results.several(experiments, naming)
    wanted = {text for one in found.details for text in naming(one)}
    if missing := wanted - found.texts.keys():
        raise DataError(f"No journal holds the text {min(missing)[:12]}. Restore the missing journal, then reindex.")
    return found
