"""Source distributions from a package index: the right file, its hash, and archives that nobody should unpack."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace

import pytest
from loopback import listening
from tiny_package import FILES

from koderz_core.config import load_settings
from koderz_core.errors import DataError, OfflineError, UsageError
from koderz_core.forge import package_index
from koderz_core.forge.package_index import Release, configured_indexes, fetch_archive, release_of
from koderz_core.forge.sources import read_release, read_source


def packed(files: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in more:
            archive.addfile(member)
    return buffer.getvalue()


SDIST = packed({f"sums-1.0/{path}": content for path, content in FILES.items()})


@contextmanager
def index(
    content: bytes = SDIST, sha256: str | None = None, *, html: bool = False, folder: str = "../../files"
) -> Iterator[SimpleNamespace]:
    """A server with version 1.0 of a package in ``folder``; ``asked`` are the paths of requests."""
    stated = hashlib.sha256(content).hexdigest() if sha256 is None else sha256
    found = SimpleNamespace(url="", asked=[])
    names = ("sums-1.0-py3-none-any.whl", "sums-1.0.tar.gz", "sums-1.0.1.tar.gz")

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            if self.path == "/simple/sums/":
                files = [{"filename": it, "url": f"{folder}/{it}", "hashes": {"sha256": stated}} for it in names]
                links = "".join(f'<a href="../../files/{name}#sha256={stated}">{name}</a>' for name in names)
                kind = "text/html" if html else "application/vnd.pypi.simple.v1+json"
                self._send(links.encode() if html else json.dumps({"files": files}).encode(), kind)
            elif self.path == "/files/sums-1.0.tar.gz":
                self._send(content, "application/octet-stream")
            else:
                self.send_error(404)

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with listening(Index) as address:
        found.url = f"{address}/simple"
        yield found


@pytest.mark.parametrize("html", [False, True])
def test_a_release_is_read_from_an_index_and_then_from_the_data_folder(tmp_path: Path, html: bool) -> None:
    settings = load_settings(home=tmp_path)
    pinned = Release("Sums", "1.0", hashlib.sha256(SDIST).hexdigest())
    with index(html=html) as served:
        source = read_release(pinned, [served.url], settings)
        assert (source.name, source.licence, source.sha256) == ("Sums-1.0", "MIT", pinned.sha256)
        assert dict(source.files) == FILES
        fetch_archive(pinned, [served.url], settings)
    assert served.asked == ["/simple/sums/", "/files/sums-1.0.tar.gz"]


def test_several_indexes_are_asked_in_turn_and_one_may_be_a_folder(tmp_path: Path) -> None:
    page = tmp_path / "simple" / "sums" / "index.html"
    page.parent.mkdir(parents=True)
    (tmp_path / "sums-1.0.tar.gz").write_bytes(SDIST)
    page.write_text(f'<a href="../../sums-1.0.tar.gz#sha256={hashlib.sha256(SDIST).hexdigest()}">sums</a>')
    with index() as empty:
        urls = [empty.url.replace("/simple", "/other"), f"file://{tmp_path}/simple"]
        assert fetch_archive(Release("sums", "1.0"), urls, load_settings(home=tmp_path / "home")) == SDIST


@pytest.mark.parametrize("version", ["2.0", "1"])
def test_a_missing_version_is_named_with_what_to_do(tmp_path: Path, version: str) -> None:
    with index() as served, pytest.raises(DataError, match=rf"sums=={version} cannot be read.*--index"):
        fetch_archive(Release("sums", version), [served.url], load_settings(home=tmp_path))


@pytest.mark.parametrize(
    ("stated", "pinned", "fault"),
    [("0" * 64, "", "the index states"), ("", "", "lists no SHA-256"), (None, "1" * 64, "koderz expects")],
)
def test_a_file_with_another_hash_is_refused(tmp_path: Path, stated: str | None, pinned: str, fault: str) -> None:
    with index(sha256=stated) as served, pytest.raises(DataError, match=fault):
        fetch_archive(Release("sums", "1.0", pinned), [served.url], load_settings(home=tmp_path))
    assert not list(tmp_path.rglob("*.tar.gz"))


@pytest.mark.parametrize("folder", ["file://{}", "../../nowhere"])
def test_an_index_cannot_name_files_of_this_machine_or_missing_ones(tmp_path: Path, folder: str) -> None:
    (tmp_path / "sums-1.0.tar.gz").write_bytes(SDIST)
    with index(folder=folder.format(tmp_path)) as served, pytest.raises(DataError, match="cannot be read"):
        fetch_archive(Release("sums", "1.0"), [served.url], load_settings(home=tmp_path / "home"))


def test_no_other_machine_is_asked_offline(tmp_path: Path) -> None:
    with pytest.raises(OfflineError):
        fetch_archive(
            Release("sums", "1.0"), ["https://example.org/simple"], load_settings(home=tmp_path, offline=True)
        )


def test_offline_an_index_on_this_machine_is_read_although_another_one_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "simple" / "sums"
    folder.mkdir(parents=True)
    (folder / "sums-1.0.tar.gz").write_bytes(SDIST)
    link = f"sums-1.0.tar.gz#sha256={hashlib.sha256(SDIST).hexdigest()}"
    (folder / "index.html").write_text(f'<a href="{link}">sums</a>')
    indexes = ["https://example.org/simple", folder.parent.as_uri()]
    assert fetch_archive(Release("sums", "1.0"), indexes, load_settings(home=tmp_path, offline=True)) == SDIST


def test_links_devices_and_paths_out_of_the_archive_are_no_files_of_the_tree(tmp_path: Path) -> None:
    link, device = tarfile.TarInfo("sums-1.0/link.py"), tarfile.TarInfo("sums-1.0/device")
    link.type, link.linkname, device.type = tarfile.SYMTYPE, "/etc/passwd", tarfile.CHRTYPE
    hostile = {"sums-1.0/../../out.py": b"", "/sums-1.0/root.py": b"", "sums-1.0/a.pyc": b"", "sums-1.0/a.py": b"1"}
    (tmp_path / "sums-1.0.tar.gz").write_bytes(packed(hostile, link, device))
    source = read_source(str(tmp_path / "sums-1.0.tar.gz"), (), load_settings(home=tmp_path))
    assert dict(source.files) == {"a.py": b"1"}


def test_a_folder_is_read_without_git_and_links(tmp_path: Path) -> None:
    for path, content in {**FILES, ".git/config": b""}.items():
        (tmp_path / "sums" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sums" / path).write_bytes(content)
    (tmp_path / "sums" / "link.py").symlink_to("/etc/passwd")
    source = read_source(str(tmp_path / "sums"), (), load_settings(home=tmp_path))
    assert (source.name, source.sha256, dict(source.files)) == ("sums", "", FILES)
    (tmp_path / "sums").rename(tmp_path / "my sums, new")
    assert read_source(str(tmp_path / "my sums, new"), (), load_settings(home=tmp_path)).name == "my-sums-new"  # in ids


def test_indexes_come_from_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"config": "global.extra-index-url='file:///a file:///b'\n", "download": "-i URL --index-url\n (default u)."}
    monkeypatch.setattr(package_index, "_pip", lambda *arguments: said[arguments[0]])
    assert configured_indexes() == ("u", "file:///a", "file:///b")
    said["config"] = "global.index-url='https://x'\n:env:.index-url='https://y'\n"
    assert configured_indexes() == ("https://y",)
    said.update(config="", download="nothing")
    with pytest.raises(UsageError, match="--index"):
        configured_indexes()


def test_other_texts_are_no_source(tmp_path: Path) -> None:
    assert release_of("a==1.0") == Release("a", "1.0")
    assert release_of("a>=1.0") is None
    with pytest.raises(UsageError, match="NAME==VERSION"):
        read_source("cachetools", (), load_settings(home=tmp_path))
