"""Archives are read in memory, only the expected files of a bounded size, and are known by the hash of these files."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from kinds_sample import QUIXBUGS, packed
from tiny_weights import Publisher, publishing

from koderz_core.config import Settings, load_settings
from koderz_core.datasets.archives import MOST_FILE_BYTES, contents_sha256, read_archive
from koderz_core.datasets.sources import SOURCES, Source, fetch
from koderz_core.errors import DataError

FILES = {"a/x.py": "x = 1\n", "a/y.py": "y = 2\n", "b/z.txt": "no\n"}
WANTED = r"a/[a-z]+\.py"
USED = {"a/x.py": b"x = 1\n", "a/y.py": b"y = 2\n"}
CURE = "Get it again."


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with publishing() as what:
        yield what


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path / "koderz")


def written(folder: Path, content: bytes) -> Path:
    path = folder / "some.tar.gz"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("folder", ["", "./", "python-9eb657d/"])
def test_the_expected_files_are_read_whatever_folder_is_around_them(tmp_path: Path, folder: str) -> None:
    assert read_archive(written(tmp_path, packed(FILES, folder)), WANTED, CURE) == USED


def test_the_hash_is_that_of_the_used_files_in_any_order_and_packing(tmp_path: Path) -> None:
    backwards = dict(reversed(FILES.items())) | {"b/z.txt": "other"}
    unpacked = gzip.decompress(packed(backwards, "commit/"))
    path = written(tmp_path, unpacked)
    assert contents_sha256(read_archive(path, WANTED, CURE)) == contents_sha256(USED)
    assert contents_sha256(USED | {"a/x.py": b"x = 2\n"}) != contents_sha256(USED)
    assert contents_sha256({"a": b"bc"}) != contents_sha256({"ab": b"c"})


def test_links_and_paths_outside_are_ignored(tmp_path: Path) -> None:
    content = io.BytesIO(gzip.decompress(packed({"a/x.py": "x = 1\n", "../../a/w.py": "w\n", "/a/v.py": "v\n"})))
    with tarfile.open(fileobj=content, mode="a:") as archive:
        link = tarfile.TarInfo("a/y.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    path = written(tmp_path, content.getvalue())
    assert read_archive(path, WANTED, CURE) == {"a/x.py": b"x = 1\n"}
    assert list(tmp_path.rglob("*.py")) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (packed(FILES)[:-30], "is not a complete"),
        (b"plain text", "is not a complete archive"),
        (packed({"c/x.py": ""}), "contains none of the expected files"),
        (packed({"a/x.py": "#" * (MOST_FILE_BYTES + 1)}), "differs from the published archive .in the file 'a/x.py'"),
        (packed({"a/x.py": "1", "copy/a/x.py": "2"}), "differs from the published archive .in the file 'copy/a/x.py'"),
    ],
    ids=["cut", "no archive", "other files", "large", "twice"],
)
def test_another_archive_is_refused_with_what_to_do(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=rf"some\.tar\.gz.*{said}.*Get it again\."):
        read_archive(written(tmp_path, content), WANTED, CURE)


def source(url: str) -> Source:
    sha256, size = contents_sha256(USED), len(packed(FILES))
    return Source("tiny", "tiny.tar.gz", "abc", "MIT", "https://tiny.example", url, size, sha256, members=WANTED)


def test_a_downloaded_archive_is_checked_by_its_files_because_its_size_varies(
    publisher: Publisher, settings: Settings
) -> None:
    publisher.body = packed(FILES | {"b/more.txt": "text\n" * 5}, "commit/")
    path = fetch(source(publisher.url), settings)
    assert read_archive(path, WANTED, CURE) == USED
    assert fetch(source(publisher.url), settings) == path
    assert publisher.ranges == [None]


@pytest.mark.parametrize(
    "body", [packed(FILES | {"a/x.py": "x = 3\n"}), packed(FILES)[:-40], b"<html>"], ids=["changed", "cut", "page"]
)
def test_a_downloaded_archive_with_other_files_is_deleted(
    publisher: Publisher, settings: Settings, body: bytes
) -> None:
    publisher.body = body
    with pytest.raises(DataError, match=r"wrong SHA-256.*deleted.*combined SHA-256 of the archived files that koderz"):
        fetch(source(publisher.url), settings)
    assert [path.name for path in settings.published_dir.iterdir()] == ["tiny.tar.lock"]


def test_an_archive_of_a_repository_has_more_than_what_is_used(tmp_path: Path) -> None:
    path = written(tmp_path, packed(QUIXBUGS | {"java_programs/X.java": "", "quixbugs.pdf": "x"}, "QuixBugs-1/"))
    used = read_archive(path, SOURCES["quixbugs"].members, CURE)
    assert set(used) == set(QUIXBUGS) - {"python_programs/last_test.py", "python_programs/node.py"}


@pytest.mark.parametrize("name", ["quixbugs", "exercism"])
def test_the_published_archives_have_the_files_of_the_table(test_data: Path, name: str) -> None:
    assert fetch(SOURCES[name], load_settings(datasets_dir=test_data)).name == SOURCES[name].file
