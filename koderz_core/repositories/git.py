"""Asks git about a folder without running what the folder's own git configuration names, and without writing.

The configuration of a repository can name programs: a monitor of files, filters of contents, hooks, a program that
checks signatures. All of them are switched off. No object is fetched from another machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from koderz_core.errors import DataError
from koderz_core.input_files import read_member
from koderz_core.records.repositories import Commit, GitState

MOST_COMMITS = 2_000
"""The latest commits that are counted for hot spots."""
LATEST = 8
_SECONDS = 30.0
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_PROGRAMS = re.compile(r"filter\..*\.(clean|smudge|process|required)", re.DOTALL | re.IGNORECASE)
_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.quotePath": "false",
    "log.showSignature": "false",
    "log.mailmap": "false",
    "log.showRoot": "true",
}


class GitError(Exception):
    """Git could not answer; the message is git's own first line. Never leaves this package."""


@dataclass(frozen=True, slots=True)
class Git:
    """The git repository that contains ``root``. ``switched_off``: the programs in its configuration."""

    root: Path
    program: str
    switched_off: tuple[str, ...] = ()

    def run(self, *arguments: str) -> str:
        """The output of a git command in ``root``. Raises GitError."""
        command = [self.program, "--no-pager", *arguments]
        try:
            done = subprocess.run(
                command, cwd=self.root, env=self._environment(), capture_output=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise GitError(f"git {arguments[0]} took longer than {_SECONDS:g} s") from None
        except OSError as error:
            raise GitError(f"git cannot be started ({error.strerror})") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise GitError(said[0] if said else f"git {arguments[0]} failed")
        return done.stdout.decode(errors="surrogateescape")

    def _environment(self) -> Mapping[str, str]:
        """None of the caller's variables: ``GIT_DIR`` and others would lead to another repository."""
        settings = {**_OFF, **{key: "false" if key.endswith("required") else "" for key in self.switched_off}}
        environment = {
            "HOME": str(Path.home()),
            "PATH": f"{Path(self.program).parent}:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        for place, (key, value) in enumerate(settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{place}": key, f"GIT_CONFIG_VALUE_{place}": value}
        return environment


def open_git(root: Path) -> tuple[Git | None, str]:
    """Git for a folder, or None and why git cannot read it; the reason is "" if the folder is in no repository."""
    program = shutil.which("git")
    if program is None:
        return None, "git is not installed" if (root / ".git").exists() else ""
    git = Git(root, program)
    try:
        if git.run("rev-parse", "--is-inside-work-tree").strip() != "true":
            return None, ""
        if git.run("config", "--default", "", "--get", "core.hooksPath").strip() != _OFF["core.hooksPath"]:
            return None, (
                "git is older than version 2.31, so koderz cannot disable the programs that the git configuration names"
            )
        keys = git.run("config", "--null", "--list", "--name-only").split("\0")
    except GitError as error:
        return None, "" if "not a git repository" in str(error) else str(error)
    return Git(root, program, tuple(sorted({key for key in keys if _PROGRAMS.fullmatch(key)}))), ""


def listed_files(git: Git) -> list[str]:
    """The files that git knows, and new files that no .gitignore names. May name deleted files. Raises GitError."""
    found = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    return sorted(filter(None, found.split("\0")))


def git_state(git: Git) -> tuple[GitState, Mapping[str, int]]:
    """The state of the repository, and the number of commits that changed each file. Raises GitError."""
    prefix, shallow = git.run("rev-parse", "--show-prefix", "--is-shallow-repository").split("\n")[:2]
    status = git.run(
        "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames", "--", "."
    )
    dirty = tuple(entry[3:].removeprefix(prefix) for entry in status.split("\0") if entry)
    branch = _branch(git)
    try:
        git.run("rev-parse", "--verify", "--quiet", "HEAD")
    except GitError:  # no commit yet
        return GitState(branch, (), 0, dirty, shallow == "true"), {}
    most = f"--max-count={MOST_COMMITS}"
    names = git.run("log", most, "-z", "--format=", "--name-only", "--no-renames", "--relative", "--", ".")
    commits = Counter(name.lstrip("\n") for name in names.split("\0") if name.strip("\n"))
    counted = int(git.run("rev-list", "--count", most, "HEAD", "--", ".").strip())
    return GitState(branch, _latest(git), counted, dirty, shallow == "true"), commits


def _branch(git: Git) -> str | None:
    try:
        return git.run("symbolic-ref", "--short", "--quiet", "HEAD").strip() or None
    except GitError:
        return None


def _latest(git: Git) -> tuple[Commit, ...]:
    lines = git.run("log", f"--max-count={LATEST}", "-z", "--format=%H %ct %s", "--", ".").split("\0")
    parts = (line.strip("\n").split(" ", 2) for line in lines if line.strip())
    return tuple(Commit(part[0], int(part[1]), "".join(part[2:])) for part in parts)


def files_at(folder: Path, commit: str) -> dict[str, bytes]:
    """The regular files of a commit (a hexadecimal id) by path; links and submodules are left out.

    Raises DataError if the folder is no clone that has the commit. Files that ``.gitattributes`` excludes from archives
    (``export-ignore``) are missing.
    """
    if not _COMMIT.fullmatch(commit):
        raise DataError(f"{commit[:80]!r} is not the id of a commit: write 7 to 64 hexadecimal digits")
    git, reason = open_git(folder.resolve())
    if git is None:
        raise DataError(f"{folder} is not a git repository that koderz can read{': ' if reason else ''}{reason}")
    try:
        root = git.run("rev-parse", "--show-toplevel").strip()
        packed = git.run("-C", root, "archive", "--format=tar", commit).encode(errors="surrogateescape")
    except GitError as error:
        raise DataError(
            f"git cannot read the commit {commit[:12]} in {folder} ({error}). Fetch the commit into this clone"
        ) from None
    try:
        with tarfile.open(fileobj=BytesIO(packed), mode="r:") as archive:
            return {member.name: read_member(archive, member) for member in archive if member.isreg()}
    except (tarfile.TarError, OSError, ValueError) as error:
        raise DataError(f"git wrote an archive of {folder} that cannot be read ({error})") from error
