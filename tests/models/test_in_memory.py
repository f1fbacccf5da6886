"""The models in memory and who loaded them, from the processes of this machine."""

from __future__ import annotations

import os
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.models.in_memory import in_memory
from koderz_core.models.residency import Loaded

PAGE = os.sysconf("SC_PAGE_SIZE")
SERVER = b"python\0-P\0-m\0koderz_core.models.embedded_server\0"


def process(proc: Path, pid: int, parent: int, command: bytes, mapped: str = "", pages: int = 0) -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} (a ) name) S {parent} 1 1")
    (folder / "cmdline").write_bytes(command)
    (folder / "maps").write_text(f"7f00-7f01 r--p 00000000 08:01 12 {mapped}\n7f02-7f03 rw-p 0 0 0\n")
    (folder / "statm").write_text(f"{pages * 2} {pages} 0")


def test_a_model_is_named_by_its_file_with_who_loaded_it_and_its_resident_memory(
    settings: Settings, tmp_path: Path
) -> None:
    closed = settings.changed(ollama_base_url="http://127.0.0.1:9", lmstudio_base_url="http://127.0.0.1:9/v1")
    process(tmp_path, 50, os.getpid(), SERVER, "/m/SmolLM2-135M-Instruct.Q4_1.gguf", 10)
    process(tmp_path, 60, 7, SERVER, pages=1)
    process(tmp_path, 61, 60, b"llama-server\0", "/m/own \x1b[31m.gguf", 5)
    process(tmp_path, 70, 1, b"vim\0koderz_core.models.embedded_server.py\0", "/m/x.gguf", 5)
    own = [Loaded("embedded/smollm2-135m", 1, 3, 0), Loaded("embedded/qwen2.5-coder-0.5b", 99, 1, 0)]
    rows = {row.model: row for row in in_memory(closed, own, tmp_path)}
    assert set(rows) == {"embedded/smollm2-135m", "own \x1b[31m.gguf", "embedded/qwen2.5-coder-0.5b"}
    mine, other, hidden = rows["embedded/smollm2-135m"], rows["own \x1b[31m.gguf"], rows["embedded/qwen2.5-coder-0.5b"]
    assert (mine.loaded_by, mine.memory_bytes, mine.measured, mine.loads) == ("this process", 10 * PAGE, True, 3)
    assert (other.loaded_by, other.memory_bytes, other.loads) == ("koderz, process 7", 6 * PAGE, None)
    assert (hidden.memory_bytes, hidden.measured) == (99, False)


def test_nothing_is_asked_of_servers_on_other_machines(settings: Settings, tmp_path: Path) -> None:
    away = settings.changed(ollama_base_url="http://192.0.2.1:11434", lmstudio_base_url="http://192.0.2.1:1234/v1")
    assert in_memory(away, [], tmp_path) == ()
