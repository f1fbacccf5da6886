"""Where the metrics can be read: on this machine only, unless the user names another address."""

from __future__ import annotations

import logging
import socket
import struct
import threading
from http.client import HTTPConnection
from pathlib import Path

import pytest

from koderz_core import KoderzError, open_workspace
from koderz_core.addresses import listen_address
from koderz_core.metrics.endpoint import MetricsServer


def answer(port: int, path: str = "/metrics", **headers: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        found = connection.getresponse()
        return found.status, found.read().decode()
    finally:
        connection.close()


def test_only_this_machine_can_read_metrics_by_default() -> None:
    server = MetricsServer("127.0.0.1", 0, lambda: b"a 1\n")
    port = server._server.server_port
    try:
        assert answer(port) == (200, "a 1\n")
        assert answer(port, Host=f"localhost:{port}")[0] == 200
        assert answer(port, Host="koderz.example.com")[0] == 403  # DNS rebinding
        assert answer(port, Host="[")[0] == 403
        assert answer(port, Origin=f"http://127.0.0.1:{port}")[0] == 403
        assert answer(port, "/")[0] == 404
    finally:
        server.close()


def test_a_client_that_leaves_during_an_answer_writes_nothing_to_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    left, sent = threading.Event(), threading.Event()

    def text() -> bytes:
        left.wait(10)
        sent.set()
        return b"a 1\n" * 1_000_000

    server = MetricsServer("127.0.0.1", 0, text)
    with socket.create_connection(("127.0.0.1", server._server.server_port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets the connection
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    left.set()
    assert sent.wait(10)
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(10)
    server.close()
    assert capfd.readouterr().err == ""


def test_an_address_that_the_user_names_is_open_to_other_machines() -> None:
    server = MetricsServer("0.0.0.0", 0, lambda: b"a 1\n")
    try:
        assert answer(server._server.server_port, Host="dashboard:9464")[0] == 200
    finally:
        server.close()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ""),
        ("9464", "127.0.0.1:9464"),
        (":9464", "127.0.0.1:9464"),
        ("0.0.0.0:9464", "0.0.0.0:9464"),
        ("[::1]:0", "[::1]:0"),
    ],
)
def test_a_port_alone_is_on_loopback(text: str, address: str) -> None:
    assert listen_address(text) == address


@pytest.mark.parametrize("text", ["x", "http://h:3", "u@h:4", "h/x:4", "h:65536", "h:", "1:2:3", "-1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(KoderzError, match=r"metrics_address: the value must be a port or HOST:PORT, such as 9464"):
        open_workspace(metrics_address=text)


def test_a_port_in_use_is_a_warning_that_says_what_to_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, caplog.at_level(logging.WARNING, "koderz"):
        address = str(taken.getsockname()[1])
        with open_workspace(home=tmp_path / "home", metrics_address=address) as opened:
            assert opened.monitoring.begin() is None
            assert opened.monitoring.begin() is None
            assert opened.monitoring.watch() is not None  # the benchmark runs
    assert len(caplog.records) == 1
    assert f"{address} cannot be used" in caplog.text
    assert "KODERZ_METRICS_ADDRESS" in caplog.text


def test_without_an_address_nothing_is_measured(tmp_path: Path) -> None:
    with open_workspace(home=tmp_path / "home") as opened:
        assert opened.monitoring.begin() is None
        assert opened.monitoring.watch() is None
