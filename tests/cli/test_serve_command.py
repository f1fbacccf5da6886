"""The process that `koderz serve` runs, and the addresses that it refuses."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

START = "from koderz_core.cli import main; main()"


def test_a_unix_socket_belongs_to_its_user_and_is_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as left_behind:  # as by a server that was killed
        left_behind.bind(str(path))
    command = [sys.executable, "-c", START, "serve", "--socket", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert str(path) in server.stdout.readline()
        assert path.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"GET /v1/ping HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n")
            assert b'"pong"' in b"".join(iter(lambda: client.recv(1000), b""))
        server.send_signal(signal.SIGTERM)
    assert server.returncode == 0
    assert not path.exists()


def test_the_network_needs_a_token_and_a_token_has_sixteen_characters(
    koderz: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = koderz("serve", "--host", "0.0.0.0", "--port", "0")
    assert (said.code, "KODERZ_SERVE_TOKEN" in said.err) == (2, True)
    monkeypatch.setenv("KODERZ_SERVE_TOKEN", "short-one")
    said = koderz("serve", "--port", "0")
    assert (said.code, "16 characters" in said.err, "short-one" in said.err) == (2, True, False)


def test_a_port_or_path_in_use_is_named_with_what_to_do(koderz: Callable[..., Any], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = koderz("serve", "--port", taken.getsockname()[1])
    assert (said.code, "koderz serve --port 0" in said.err) == (3, True)
    file = tmp_path / "kept"
    file.write_text("kept")
    assert koderz("serve", "--socket", file).code == 3
    assert file.read_text() == "kept"
