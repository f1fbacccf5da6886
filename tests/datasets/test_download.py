"""Published files are fetched from their publisher, go on where they stopped, and are never trusted unverified."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tiny_weights import CONTENT, DIGEST, Publisher, publishing

from koderz_core.config import Settings, load_settings
from koderz_core.datasets import DATASETS, fetched_by
from koderz_core.datasets.sources import MADE_OF, SOURCES, Source, fetch
from koderz_core.errors import DataError
from koderz_core.input_files import read_unpacked


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with publishing() as what:
        yield what


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path / "koderz")


def tiny(url: str, **more: object) -> Source:
    source = Source("tiny", "tiny.jsonl.gz", "v1", "MIT", "https://tiny.example", url, len(CONTENT), DIGEST)
    return replace(source, **more)  # type: ignore[arg-type]


def left(settings: Settings) -> list[str]:
    return sorted(path.name for path in settings.published_dir.iterdir())


def test_the_file_arrives_whole_and_the_bytes_are_counted(publisher: Publisher, settings: Settings) -> None:
    seen: list[int] = []
    assert fetch(tiny(publisher.url), settings, seen.append).read_bytes() == CONTENT
    assert (seen[-1], left(settings)) == (len(CONTENT), ["tiny.jsonl.gz", "tiny.jsonl.lock"])


def test_a_download_that_was_cut_goes_on_where_it_stopped(publisher: Publisher, settings: Settings) -> None:
    publisher.sends = 6000
    with pytest.raises(DataError, match="the download was interrupted"):
        fetch(tiny(publisher.url), settings)
    publisher.sends = None
    assert fetch(tiny(publisher.url), settings).read_bytes() == CONTENT
    assert publisher.ranges[0] is None
    assert publisher.ranges[1] is not None


def test_a_server_that_cannot_go_on_starts_over(publisher: Publisher, settings: Settings) -> None:
    publisher.understands_range = False
    settings.published_dir.mkdir(parents=True)
    (settings.published_dir / "tiny.jsonl.part").write_bytes(b"x" * 100)
    assert fetch(tiny(publisher.url), settings).read_bytes() == CONTENT


def test_a_wrong_file_is_deleted_and_what_to_do_by_hand_is_said(publisher: Publisher, settings: Settings) -> None:
    publisher.body = CONTENT[::-1]
    with pytest.raises(DataError) as caught:
        fetch(tiny(publisher.url), settings)
    for said in ("was deleted", DIGEST, publisher.url, "https://tiny.example", str(settings.published_dir)):
        assert said in str(caught.value)
    assert left(settings) == ["tiny.jsonl.lock"]


@pytest.mark.parametrize(("url", "reason"), [("{}", "HTTP status 404"), ("http://127.0.0.1:9/x", "not reachable")])
def test_a_publisher_who_cannot_be_had_is_named(
    publisher: Publisher, settings: Settings, url: str, reason: str
) -> None:
    publisher.status = 404
    by_hand = r"To download it by hand, get tiny\.jsonl\.gz"
    with pytest.raises(DataError, match=rf"cannot be downloaded from http.*{reason}.*{by_hand}"):
        fetch(tiny(url.format(publisher.url)), settings)


def test_offline_nobody_is_asked(settings: Settings) -> None:
    offline = settings.changed(offline=True)
    with pytest.raises(
        DataError, match=r"KODERZ_OFFLINE is set, so tiny\.example was not contacted.*To download it by hand"
    ):
        fetch(tiny("https://tiny.example/x"), offline)


def test_a_file_that_is_there_is_not_fetched_and_not_replaced(publisher: Publisher, settings: Settings) -> None:
    settings.published_dir.mkdir(parents=True)
    there = settings.published_dir / "tiny.jsonl.gz"
    there.write_bytes(CONTENT)
    assert fetch(tiny(publisher.url), settings) == there
    there.write_bytes(b"my own")
    with pytest.raises(DataError, match="exists, but differs from release v1"):
        fetch(tiny(publisher.url), settings)
    assert (there.read_bytes(), publisher.ranges) == (b"my own", [])


def test_without_a_known_hash_a_file_is_only_placed_by_hand(publisher: Publisher, settings: Settings) -> None:
    with pytest.raises(DataError, match=r"has no SHA-256.*To download it by hand, get tiny"):
        fetch(tiny(publisher.url, sha256=""), settings)
    assert publisher.ranges == []


def test_the_table_of_sources_is_whole() -> None:
    assert {*SOURCES, *MADE_OF} == set(DATASETS) - {"humaneval", "humaneval-stdin"}
    assert {name for names in MADE_OF.values() for name in names} <= set(SOURCES)
    for source in SOURCES.values():
        assert source.published or source.url.endswith(f"/{source.file}") != bool(source.members)
        assert {urlsplit(url).scheme for url in (source.url, source.page)} == {"https"}
        assert (len(source.sha256), source.size_bytes > 0) in ((64, True), (0, False))


def test_what_is_missing_is_told_by_the_command_that_fetches_it(settings: Settings) -> None:
    assert fetched_by("mbpp", settings) == "koderz download-data mbpp"
    assert fetched_by("humaneval", settings) == ""
    assert fetched_by("mbpp, variant renamed", settings) == "koderz download-data mbpp"
    assert fetched_by("humanevalfix+", settings) == "koderz download-data humanevalfix humaneval+"
    settings.published_dir.mkdir(parents=True)
    (settings.published_dir / "mbpp-hf.jsonl.gz").touch()
    assert fetched_by("mbpp", settings) == ""


def test_published_files_are_those_of_the_table(test_data: Path) -> None:
    settings = load_settings(datasets_dir=test_data)
    for name in ("humaneval+", "humaneval+mini", "mbpp+"):
        assert fetch(SOURCES[name], settings).stat().st_size == SOURCES[name].size_bytes


@pytest.mark.parametrize("name", ["humanevalfix", "classeval"])
def test_published_files_that_were_compressed_have_the_content_of_the_table(test_data: Path, name: str) -> None:
    content = read_unpacked(fetch(SOURCES[name], load_settings(datasets_dir=test_data)), "")
    assert (len(content), hashlib.sha256(content).hexdigest()) == (SOURCES[name].size_bytes, SOURCES[name].sha256)
