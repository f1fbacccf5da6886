"""Whether a model fits into memory: what is free, of the machine and of its container, and what a model needs."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from koderz_core.config import Settings
from koderz_core.models.embedded import lack_of_memory, needed_bytes
from koderz_core.models.free_memory import Memory, read_memory, reserve_bytes
from koderz_core.models.gguf import Need, need_of_file
from koderz_core.models.weights import WEIGHTS

GB = 10**9
MB = 2**20


def machine(folder: Path, available_kb: int, groups: str = "0::/\n") -> Path:
    """A /proc with 16 GB in all."""
    (folder / "self").mkdir()
    (folder / "meminfo").write_text(
        f"MemTotal: 16000000 kB\nMemAvailable:  {available_kb} kB\nSwapTotal: 500 kB\nSwapFree: 400 kB\n"
    )
    (folder / "self" / "cgroup").write_text(groups)
    return folder


def second_version(folder: Path, limit: object, used: int, cached: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")
    return folder


def first_version(folder: Path, limit: int, used: int, cached: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.limit_in_bytes").write_text(f"{limit}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"inactive_file 0\ntotal_inactive_file {cached}\n")


def test_the_smaller_of_machine_and_container_counts_without_what_is_only_cached(tmp_path: Path) -> None:
    proc = machine(tmp_path, 8_000_000)
    limited = second_version(tmp_path / "limited", 4 * GB, 3 * GB, GB)
    assert read_memory(proc, limited) == Memory(4 * GB, 2 * GB, "container", 102_400)
    free = second_version(tmp_path / "free", "max", 3 * GB, GB)
    assert read_memory(proc, free) == Memory(16_000_000 * 1024, 8_000_000 * 1024, "machine", 102_400)


def test_in_the_first_version_the_group_of_this_process_counts_and_those_around_it(tmp_path: Path) -> None:
    proc, groups = machine(tmp_path, 8_000_000, "4:cpu,memory:/outer/inner\n0::/\n"), tmp_path / "groups"
    first_version(groups / "memory", 9_223_372_036_854_771_712, GB, 0)
    first_version(groups / "memory" / "outer", 3 * GB, 2 * GB + GB // 2, 0)
    first_version(groups / "memory" / "outer" / "inner", 4 * GB, 2 * GB, GB)
    assert read_memory(proc, groups) == Memory(3 * GB, GB // 2, "container", 102_400)


def test_what_is_free_is_unknown_where_the_system_does_not_tell(tmp_path: Path) -> None:
    assert read_memory(tmp_path / "none", tmp_path) is None


def test_the_reserve_is_a_tenth_within_bounds_and_less_on_a_tiny_machine(settings: Settings) -> None:
    totals = (GB // 2, GB, 8 * GB, 64 * GB)
    assert [reserve_bytes(total, settings) for total in totals] == [GB // 8, GB // 4, 8 * GB // 10, 2 * GB]
    assert reserve_bytes(8 * GB, settings.changed(memory_reserve_gb=0.0)) == 0


@pytest.mark.parametrize(
    ("name", "num_ctx", "measured_mb"),
    [("qwen2.5-coder-0.5b", 8192, 729), ("qwen2.5-coder-1.5b", 8192, 2053), ("smollm2-135m", 8192, 350)],
)
def test_what_a_model_needs_is_what_it_took_when_it_was_measured(
    settings: Settings, name: str, num_ctx: int, measured_mb: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koderz_core.models.weights.find", lambda *_, **__: None)
    assert needed_bytes(WEIGHTS[name], settings.changed(num_ctx=num_ctx)) == pytest.approx(measured_mb * MB, rel=0.1)


def test_a_model_above_the_limit_of_the_settings_is_refused_with_it(settings: Settings) -> None:
    lack = lack_of_memory(WEIGHTS["qwen2.5-coder-0.5b"], settings.changed(model_memory_gb=0.5))
    assert lack
    assert "KODERZ_MODEL_MEMORY_GB allows only 0.5 GB" in lack.reason


def gguf(path: Path, *, tokens: int = 49_152, tensors: int = 1, head: bytes = b"GGUF") -> Path:
    """The header of a file with the shape of SmolLM2-135M, whose one tensor in Q4_K has 256,000 numbers."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    shape = {
        "block_count": 30,
        "embedding_length": 576,
        "attention.head_count": 9,
        "attention.head_count_kv": 3,
        "context_length": 8192,
    }
    entries = [text("general.architecture") + struct.pack("<I", 8) + text("llama")]
    words = struct.pack("<IIQ", 9, 8, tokens) + text("x") * min(tokens, 100_000)
    entries.append(text("tokenizer.ggml.tokens") + words)
    entries += [text(f"llama.{name}") + struct.pack("<II", 4, value) for name, value in shape.items()]
    tensor = text("blk.0.weight") + struct.pack("<IQQIQ", 2, 256, 1000, 12, 0)
    path.write_bytes(head + struct.pack("<IQQ", 3, tensors, len(entries)) + b"".join(entries) + tensor * tensors)
    return path


def test_the_need_of_a_file_is_computed_from_its_header(tmp_path: Path) -> None:
    path = gguf(tmp_path / "a.gguf")
    size, copied, process = path.stat().st_size, 144_000, 35_000_000 + 500 * 49_152
    assert need_of_file(path) == Need(size, 2 * 30 * 3 * 64 * 2, process + copied)


@pytest.mark.parametrize(
    "changes", [{"head": b"ZIP!"}, {"tokens": 1 << 60}, {"tensors": 0, "head": b""}], ids=["other", "endless", "cut"]
)
def test_a_file_that_lies_about_itself_has_no_need_and_does_no_harm(tmp_path: Path, changes: dict[str, object]) -> None:
    assert need_of_file(gguf(tmp_path / "a.gguf", **changes)) is None  # type: ignore[arg-type]
    (tmp_path / "empty").touch()
    assert need_of_file(tmp_path / "empty") is None
