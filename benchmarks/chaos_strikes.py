"""The disturbances of ``benchmarks/chaos.py``: a kill or a full disk; and the processes that are left."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from process_tree import bury, workers

END_SECONDS = 90.0  # what it may take to end in good order, or to notice a full disk; a busy machine is slow
GRACE_SECONDS = 5.0  # what children may take to see that their parent is gone
DISK_BYTES = 64 << 20
FILLER = "filler"


@dataclass(frozen=True, slots=True)
class Strike:
    """A disturbance after some seconds: a signal or, if it is None, a full disk.

    ``writing``: the seconds count from the first write to the journal, otherwise from the start.
    """

    seconds: float
    signal: signal.Signals | None
    writing: bool

    def __str__(self) -> str:
        what = self.signal.name.removeprefix("SIG") if self.signal else "FULL"
        return f"{what} {'+' if self.writing else ''}{self.seconds:.1f}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended; ``struck``: whether it was still running at the kill. ``said``: its standard error."""

    code: int
    struck: bool
    said: str


def drawn(random: Random, whole_seconds: float, writing_seconds: float, *, filling: bool) -> Iterator[Strike]:
    """One or two disturbances at moments within the undisturbed duration; four in five while it writes."""
    for number in range(1 + (random.random() < 0.5)):
        writing, term = random.random() < 0.8, random.random() < 1 / 3
        seconds = random.uniform(0.0, 0.9 - 0.3 * number) * (writing_seconds if writing else whole_seconds)
        yield Strike(seconds, None if filling else signal.SIGTERM if term else signal.SIGKILL, writing)


def started(command: Sequence[str], environment: Mapping[str, str], home: Path, strike: Strike | None) -> Ended:
    """Run a command until it ends by itself or is killed."""
    before = _journalled_bytes(home)
    with (
        subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process,
        _killed_if_interrupted(process),
    ):
        while strike and strike.writing and process.poll() is None and _journalled_bytes(home) == before:
            time.sleep(0.005)
        try:
            said = process.communicate(timeout=strike and strike.seconds)[1]
            return Ended(process.returncode, False, said)
        except subprocess.TimeoutExpired:
            assert strike
            _fill(home) if strike.signal is None else process.send_signal(strike.signal)
        try:
            said = process.communicate(timeout=END_SECONDS)[1]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # it says where it hangs (PYTHONFAULTHANDLER)
            said = f"It did not end within {END_SECONDS:g} s\n{process.communicate()[1]}"
    return Ended(process.returncode, True, said)


@contextmanager
def _killed_if_interrupted(process: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        process.kill()  # else it would write on in a folder that is being removed
        raise


def _journalled_bytes(home: Path) -> int:
    return sum(path.stat().st_size for path in (home / "journals").glob("*.jsonl"))


def orphans(spared: int) -> list[str]:
    """Processes that outlive their parent, by their command lines; they are ended. ``spared``: a child's id."""
    deadline = time.monotonic() + GRACE_SECONDS
    while (left := set(workers()) - {spared}) and time.monotonic() < deadline:
        bury()
        time.sleep(0.02)
    named = [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")[:200] for pid in left]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return named


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A separate disk at ``folder``. Raises OSError if none can be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _fill(home: Path) -> None:
    """Use up all space of the disk."""
    with (home / FILLER).open("ab", buffering=0) as file:
        size = 1 << 20
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size >>= 1


def make_room(home: Path) -> None:
    (home / FILLER).unlink(missing_ok=True)
