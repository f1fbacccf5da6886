"""Loading a published file: found, unpacked, hashed, and its lines made problems by their format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from koderz_core.config import Settings
from koderz_core.datasets.lines import all_of, problems_in
from koderz_core.datasets.sources import SOURCES, cure_of, path_of
from koderz_core.reading import read_unpacked
from koderz_core.records import Dataset, DatasetOrigin, Problem


def load_published(name: str, settings: Settings, problem_of: Callable[[bytes], Problem]) -> Dataset:
    """The problems of the file that was fetched or placed. Raises DataError, which names file, line and field."""
    source = SOURCES[name]
    path, cure = path_of(source, settings), cure_of(source)
    content = read_unpacked(path, cure)
    origin = DatasetOrigin(name, hashlib.sha256(content).hexdigest(), source.licence)
    return Dataset(origin, all_of(problems_in(content, problem_of), path, cure))
