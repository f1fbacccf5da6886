"""The log of outbound connections: every passage of the gate with its purpose, setting, connections and bytes."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from chat_server import REQUEST, SECRET, says, sends, serving_chat

from koderz_core.config import load_settings
from koderz_core.egress import FOLDER, KEPT_DAYS, Traffic, log_in, read
from koderz_core.errors import DataError, OfflineError
from koderz_core.models.availability import listing
from koderz_core.models.catalogue import resolve
from koderz_core.models.provider import ModelList
from koderz_core.models.providers import create
from koderz_core.report.network import headline
from koderz_core.times import iso


def logged(home: Path) -> list[Traffic]:
    log_in(home).flush()
    return read(home, 0.0)


def test_calls_are_counted_with_their_connections_and_exact_bytes(tmp_path: Path) -> None:
    heads: list[int] = []

    def counting(handler: BaseHTTPRequestHandler) -> None:
        heads.append(len(handler.raw_requestline) + len(handler.headers.as_bytes().replace(b"\n", b"\r\n")))
        says("yes")(handler)

    with serving_chat() as server:
        server.answer = counting
        settings = load_settings(home=tmp_path, openai_base_url=server.url, openai_api_key=SECRET)
        model = create(resolve("openai/gpt-4o", settings), settings, dict)
        for _ in range(3):
            model.complete(REQUEST)
        model.close()
        (row,) = logged(tmp_path)
        bodies = sum(len(json.dumps(body, separators=(",", ":"), ensure_ascii=False)) for body in server.bodies)
    assert row.address == server.url.removeprefix("http://").removesuffix("/v1")
    assert (row.purpose, row.setting, row.loopback) == ("a call to openai/gpt-4o", "OPENAI_BASE_URL", True)
    assert (row.calls, row.connections, row.allowed, row.via) == (3, 3, True, "")
    assert (row.sent_bytes, (row.received_bytes or 0) > 300) == (sum(heads) + bodies, True)
    assert SECRET not in "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))


def test_a_refusal_is_logged_with_its_purpose_and_no_bytes(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, offline=True)
    with pytest.raises(OfflineError):
        settings.check_egress(
            "https://user:MARKED@api.openai.com/v1/MARKED1234567890123?key=MARKED", "a call to a model"
        )
    (row,) = logged(tmp_path)
    assert (row.address, row.setting) == ("api.openai.com:443", "OPENAI_BASE_URL (default)")
    assert (row.allowed, row.calls, row.connections, row.sent_bytes) == (False, 1, 0, 0)
    assert "MARKED" not in "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))


def test_what_another_program_sends_is_unknown_and_not_zero(tmp_path: Path) -> None:
    load_settings(home=tmp_path).check_egress(
        "the Python package index", "weights", "the settings of pip", metered=False
    )
    (row,) = logged(tmp_path)
    assert (row.address, row.calls) == ("the Python package index", 1)
    assert {row.connections, row.sent_bytes, row.received_bytes} == {None}
    assert "sent unknown, received unknown" in headline([row], "the last day")
    known = replace(row, connections=1, sent_bytes=1_500, received_bytes=0)
    assert "sent at least 1.5 kB, received at least 0 B" in headline([row, known], "the last day")


def test_several_processes_write_whole_lines_and_lose_no_count(tmp_path: Path) -> None:
    script = (
        "import sys; from koderz_core.config import load_settings; settings = load_settings(home=sys.argv[1])\n"
        "for number in range(300): settings.check_egress(f'http://127.0.0.1:{number % 3 + 1}', 'x' * 200)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert [row.calls for row in read(tmp_path, 0.0)] == [300, 300, 300]


def test_a_killed_process_loses_counts_but_no_address(tmp_path: Path) -> None:
    script = (
        "import os, sys; from koderz_core.config import load_settings; settings = load_settings(home=sys.argv[1])\n"
        "for port in (1, 2, 1, 1): settings.check_egress(f'http://127.0.0.1:{port}', 'a call')\nos._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    assert [(row.address, row.calls) for row in read(tmp_path, 0.0)] == [("127.0.0.1:1", 1), ("127.0.0.1:2", 1)]


def test_old_days_are_deleted_and_damaged_lines_are_omitted(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    day = 86_400.0
    for age in (KEPT_DAYS + 2, KEPT_DAYS - 1):
        (folder / f"{iso(time.time() - age * day)[:10]}.jsonl").write_bytes(b'{"at": 1\n\xff\n')
    load_settings(home=tmp_path).check_egress("http://127.0.0.1:1", "a call")
    assert len(logged(tmp_path)) == 1
    assert len(list(folder.iterdir())) == 2


def test_a_data_folder_is_made_for_an_address_beyond_this_machine_only(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home")
    settings.check_egress("http://127.0.0.1:1", "a call")
    assert logged(settings.home) == []
    settings.check_egress("https://far.invalid", "a call")
    assert [(row.address, row.calls) for row in logged(settings.home)] == [("far.invalid:443", 1), ("127.0.0.1:1", 1)]


def test_a_log_that_cannot_be_written_ends_no_work(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FOLDER).write_text("a file")
    settings = load_settings(home=tmp_path)
    for _ in range(2):
        settings.check_egress("http://127.0.0.1:1", "a call")
    assert [record.message for record in caplog.records if "cannot be written" in record.message] == [
        f"The log of outbound connections in {tmp_path / FOLDER} cannot be written (File exists)."
    ]


def test_a_disk_that_is_full_in_the_middle_counts_no_line_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_in(tmp_path)
    settings = load_settings(home=tmp_path)
    ports = (1, 2)
    for port in ports * 2:  # the second calls are only in memory
        settings.check_egress(f"http://127.0.0.1:{port}", "a call")
    write, lines = os.write, iter([True, False])

    def full(file: int, line: bytes) -> int:
        if not next(lines):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, line)

    monkeypatch.setattr(os, "write", full)
    log.flush()
    monkeypatch.undo()
    assert [row.calls for row in logged(tmp_path)] == [2, 2]


def test_a_log_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    day = tmp_path / FOLDER / f"{iso(time.time())[:10]}.jsonl"
    day.mkdir(parents=True)
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path, 0.0)


def test_a_proxy_is_named_next_to_the_address_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_chat() as proxy:
        proxy.listing = sends(200, {"data": [{"id": "far"}]})
        monkeypatch.setenv("http_proxy", proxy.url)
        settings = load_settings(home=tmp_path, vllm_base_url="http://far.invalid/v1")
        assert listing(ModelList("http://far.invalid/v1/models"), settings, 5.0).names == ("far",)
    (gate, connected) = sorted(logged(tmp_path), key=lambda row: row.via)
    assert {gate.address, connected.address} == {"far.invalid:80"}
    assert (gate.calls, connected.calls, connected.connections) == (1, 0, 1)
    assert f"http://{connected.via}/v1" == proxy.url
