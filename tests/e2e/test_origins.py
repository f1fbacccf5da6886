"""Other websites cannot use the dashboard, and the dashboard asks nobody who may."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from sample import thinned
from serving import WITHIN, Serve
from test_shell_in_browser import refusal

PUBLIC = "203.0.113.9"  # what the proxy says to whoever asks for this machine's public address
FOREIGN = (
    "http://evil.example",
    "https://evil.example:{port}",
    f"http://{PUBLIC}",
    f"http://{PUBLIC}:{{port}}",
    "http://localhost",
    "http://localhost:{other}",
    "http://127.0.0.1",
    "http://127.0.0.1:{other}",
    "http://localhost:{port}",  # another origin than 127.0.0.1, at which it was asked
    "http://0.0.0.0:{port}",
    "http://[::1]:{port}",
    "http://[::1",
    "http://127.0.0.1:{port}.evil.example",
    "http://127.0.0.1:{port}@evil.example",
    "http://evil.example@127.0.0.1:{port}",
    "file://127.0.0.1:{port}",
    "null",
    "",
)


class Proxy(HTTPServer):
    """Records what it is asked for, and answers everything with a public address."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.requests: list[str] = []


class Answering(BaseHTTPRequestHandler):
    server: Proxy

    def do_GET(self) -> None:
        self.server.requests.append(self.requestline)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PUBLIC.encode())

    do_CONNECT = do_HEAD = do_POST = do_GET  # noqa: N815 (the names that http.server looks for)

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy() as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield proxy
        proxy.shutdown()


def handshake(port: int, origin: str | None, host: str | None = None) -> int:
    """The status with which the dashboard answers a WebSocket of that origin."""
    lines = ["GET /_stcore/stream HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Connection: Upgrade"]
    lines += ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + "A" * 22 + "=="]
    lines += [] if origin is None else [f"Origin: {origin}"]
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(connection.recv(100).split()[1])


@pytest.mark.parametrize("offline", thinned(["1", "0"], "servers asked by foreign origins"))
def test_no_foreign_origin_opens_the_dashboard_and_nobody_is_asked_about_one(
    server: Serve, proxy: Proxy, offline: str
) -> None:
    address = f"http://127.0.0.1:{proxy.server_port}"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), address)
    url = server(environment={**proxies, "KODERZ_OFFLINE": offline, "no_proxy": "", "NO_PROXY": ""}).url
    port = urlsplit(url).port
    assert port
    foreign = [origin.format(port=port, other=port + 1) for origin in FOREIGN]
    assert {origin: handshake(port, origin) for origin in foreign} == dict.fromkeys(foreign, 403)
    assert handshake(port, f"http://{PUBLIC}:{port}", f"{PUBLIC}:{port}") == 403  # a rebound name is its own origin
    for own in (f"http://127.0.0.1:{port}", f"https://127.0.0.1:{port}", None):
        assert handshake(port, own) == 101
    assert handshake(port, "http://localhost:9000", "localhost:9000") == 101  # through an SSH tunnel
    assert proxy.requests == []


def test_a_page_of_another_origin_gets_no_answer_and_no_metrics_either(server: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        metrics = f"127.0.0.1:{free.getsockname()[1]}"
    url = server(environment={"KODERZ_METRICS_ADDRESS": metrics}).url
    assert "koderz_info" in first_answer(f"http://{metrics}/metrics")
    for address in (f"{url}/_stcore/health", f"http://{metrics}/metrics"):
        with pytest.raises(OSError, match="403"):
            urlopen(Request(address, headers={"Origin": "http://evil.example"}), timeout=60)


def first_answer(url: str) -> str:
    """The answer of a server that starts next to the dashboard."""
    deadline = time.monotonic() + WITHIN
    while True:
        try:
            with urlopen(url, timeout=60) as answer:
                return str(answer.read().decode())
        except URLError:
            assert time.monotonic() < deadline, f"nothing answers at {url}"
            time.sleep(0.1)


@pytest.mark.parametrize(
    ("option", "value"),
    thinned(
        [
            ("server.enableCORS", "false"),
            ("server.enableXsrfProtection", "false"),
            ("server.corsAllowedOrigins", "http://evil.example"),
            ("server.allowedHosts", "*"),
            ("logger.hideWelcomeMessage", "false"),
        ],
        "protections of the server that are off",
    ),
)
def test_it_does_not_start_with_a_protection_off(option: str, value: str, tmp_path: Path) -> None:
    assert option in refusal(tmp_path / "log", f"--{option}", value)
