"""Problems that somebody typed are kept, found again by name, and never half written."""

from __future__ import annotations

import hashlib
import resource
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from koderz_core.config import Settings
from koderz_core.datasets import DATASETS, dataset_names, load
from koderz_core.datasets.humaneval import Row
from koderz_core.datasets.own_problems import keep
from koderz_core.errors import DataError, UnknownNameError

ADD = Row("", "def add(a, b):\n    ...\n", "add", "", "def check(candidate):\n    assert candidate(1, 2) == 3\n")


def test_a_kept_problem_is_loaded_by_its_name(settings: Settings) -> None:
    kept = keep(ADD, settings)
    assert load(kept.origin.name, settings) == kept
    assert kept.problems[0].public.entry_point == "add"
    assert (kept.problems[0].id, kept.origin.licence) == (f"{kept.origin.name}/0", "your own")


def test_its_name_and_origin_follow_from_its_content(settings: Settings) -> None:
    first, again = keep(ADD, settings).origin, keep(ADD, settings).origin
    other = keep(msgspec.structs.replace(ADD, prompt=f"# Add.\n{ADD.prompt}"), settings).origin
    (path,) = (settings.home / "problems").glob(f"{first.name}.*")
    assert first == again != other
    assert first.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert first.name != other.name
    assert len(list(path.parent.iterdir())) == 2  # nothing else is left behind


def test_without_a_solution_there_is_none_rather_than_half_a_program(settings: Settings) -> None:
    assert keep(ADD, settings).problems[0].canonical_solution == ""


@pytest.mark.parametrize("name", ["typed-000000000000", "typed-../../secret", "typed-"])
def test_an_unknown_name_is_told_with_those_there_are(settings: Settings, name: str) -> None:
    kept = keep(ADD, settings).origin.name
    with pytest.raises(UnknownNameError, match=kept):
        load(name, settings)


def test_all_names_are_listed_the_published_first(settings: Settings) -> None:
    assert dataset_names(settings) == tuple(DATASETS)
    kept = keep(ADD, settings).origin.name
    (settings.home / "problems" / "typed-else.jsonl").touch()
    assert dataset_names(settings) == (*DATASETS, kept)


@pytest.mark.parametrize("spoil", [lambda text: text[:40], lambda text: b"", lambda text: text.replace(b"_id", b"")])
def test_a_spoiled_file_is_named_and_mended_by_typing_the_problem_anew(
    settings: Settings, spoil: Callable[[bytes], bytes]
) -> None:
    name = keep(ADD, settings).origin.name
    path = settings.home / "problems" / f"{name}.jsonl"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DataError, match=rf"{name}\.jsonl.* Enter the problem again"):
        load(name, settings)
    assert keep(ADD, settings) == load(name, settings)


def test_a_link_to_nothing_is_no_dataset_until_the_problem_is_typed_anew(settings: Settings) -> None:
    name = keep(ADD, settings).origin.name
    path = settings.home / "problems" / f"{name}.jsonl"
    path.unlink()
    path.symlink_to("nothing")
    assert dataset_names(settings) == tuple(DATASETS)
    assert keep(ADD, settings) == load(name, settings)


def test_a_disk_that_is_full_is_told_and_nothing_is_left_behind(settings: Settings) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(DataError, match=r"typed-.*cannot be written"):
            keep(ADD, settings)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((settings.home / "problems").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"typed-.*cannot be written"):
        keep(ADD, settings.changed(home=tmp_path / "file"))
