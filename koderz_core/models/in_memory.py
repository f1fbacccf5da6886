"""The local models in the memory of this machine, and who loaded them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings
from koderz_core.models.free_memory import PROC
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.residency import Loaded
from koderz_core.models.server_memory import in_lmstudio, in_ollama
from koderz_core.models.weights_download import WEIGHTS

_EMBEDDED = b"koderz_core.models.embedded_server"
_OTHERS = "another program, or an earlier run of koderz"


@dataclass(frozen=True, slots=True)
class InMemory:
    """A loaded model, whose name may come from a server or a file. Sizes are bytes, None if they are unknown.

    ``program``: what holds it. ``loaded_by``: who loaded it. ``measured``: whether ``memory_bytes`` is the resident
    memory of a process; otherwise it is what a server reports, or an estimate. ``loads``: by this process.
    """

    model: str
    program: str
    loaded_by: str
    memory_bytes: int | None
    gpu_bytes: int | None = None
    measured: bool = False
    loads: int | None = None


def in_memory(settings: Settings, own: Sequence[Loaded], proc: Path = PROC) -> tuple[InMemory, ...]:
    """All models that this machine has loaded, as far as koderz can know. ``own``: those of this process.

    Asks Ollama and LM Studio if they are on this machine. Raises nothing.
    """
    loads = {loaded.model: loaded.loads for loaded in own}
    rows = list(_embedded(proc, loads))
    seen = {row.model for row in rows}
    rows += [
        InMemory(loaded.model, "llama.cpp", "this process", loaded.needed_bytes, loads=loaded.loads)
        for loaded in own
        if loaded.model.startswith("embedded/") and loaded.model not in seen
    ]
    return (*rows, *_served(settings, loads))


def _served(settings: Settings, loads: dict[str, int]) -> Iterator[InMemory]:
    servers = (("ollama", "Ollama", in_ollama), ("lmstudio", "LM Studio", in_lmstudio))
    for provider, program, held in servers:
        places = PROVIDERS[provider].places(settings)
        for address, at in places.items():
            for model in held(at) if is_loopback(address) else ():
                name = f"{provider}/{model.name}"
                count = loads.get(name, loads.get(name.removesuffix(":latest")))
                who = _OTHERS if count is None else "this process"
                where = program if len(places) == 1 else f"{program} at {address}"
                yield InMemory(name, where, who, model.size_bytes, model.gpu_bytes, loads=count)


def _embedded(proc: Path, loads: dict[str, int]) -> Iterator[InMemory]:
    """The embedded models of all koderz processes, each with the memory of its server and that server's children."""
    processes = dict(_processes(proc))
    for pid, (parent, command) in processes.items():
        if _EMBEDDED not in command.split(b"\0"):
            continue
        family = [pid, *(child for child, (of, _) in processes.items() if of == pid)]
        files = [name for member in family for name in _mapped(proc, member)]
        if not files:
            continue  # it has not loaded its model yet
        model = next((f"embedded/{known.name}" for known in WEIGHTS.values() if known.file_name in files), files[0])
        here = parent == os.getpid()
        who = "this process" if here else f"koderz, process {parent}"
        resident = sum(_resident(proc, member) for member in family)
        yield InMemory(model, "llama.cpp", who, resident, measured=True, loads=loads.get(model) if here else None)


def _processes(proc: Path) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """The parent and the command of every process, by id."""
    for folder in proc.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            parent = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            yield int(folder.name), (parent, (folder / "cmdline").read_bytes())


def _mapped(proc: Path, pid: int) -> list[str]:
    """The names of the GGUF files that a process has mapped into its memory."""
    names: dict[str, None] = {}
    with suppress(OSError):
        for line in (proc / str(pid) / "maps").read_text(errors="replace").splitlines():
            path = line.partition("/")[2]
            if path.endswith(".gguf"):
                names[path.rpartition("/")[2]] = None
    return list(names)


def _resident(proc: Path, pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        return int((proc / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
