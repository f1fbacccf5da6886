"""Whether an embedded model fits into memory: what is free, of the machine and of its container."""

from __future__ import annotations

from pathlib import Path

import pytest

from koderz_core.models.embedded import free_bytes, needed_bytes
from koderz_core.models.weights import WEIGHTS

GB = 10**9


def machine(folder: Path, available_kb: int) -> Path:
    path = folder / "meminfo"
    path.write_text(f"MemTotal: 16000000 kB\nMemAvailable:  {available_kb} kB\n")
    return path


def container(folder: Path, limit: object, used: int, cached: int) -> Path:
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")
    return folder


def test_the_smaller_of_machine_and_container_counts_without_what_is_only_cached(tmp_path: Path) -> None:
    meminfo = machine(tmp_path, 8_000_000)
    assert free_bytes(meminfo, container(tmp_path, 4 * GB, 3 * GB, GB)) == 2 * GB
    assert free_bytes(meminfo, container(tmp_path, "max", 3 * GB, GB)) == 8_000_000 * 1024


def test_what_is_free_is_unknown_where_the_system_does_not_tell(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "none", tmp_path) is None


@pytest.mark.parametrize(
    ("name", "num_ctx", "measured_mb"),
    [("qwen2.5-coder-0.5b", 8192, 729), ("qwen2.5-coder-1.5b", 8192, 2053), ("smollm2-135m", 8192, 350)],
)
def test_what_a_model_needs_is_what_it_took_when_it_was_measured(name: str, num_ctx: int, measured_mb: int) -> None:
    assert needed_bytes(WEIGHTS[name], num_ctx) == pytest.approx(measured_mb * 2**20, rel=0.1)
