"""The connections to a model server: one for each call under way, used again, closed with their model."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import httpx2
import pytest

from koderz_core.models.connection import Transport


class Counting(ThreadingHTTPServer):
    """Counts connections; each answer waits for as many requests as ``together`` says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.connections, self.hang_up, self.together = 0, False, threading.Barrier(1)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.hung_up = threading.Event()

    def get_request(self):  # type: ignore[no-untyped-def] # as its base class has it
        self.connections += 1
        return super().get_request()

    def shutdown_request(self, request):  # type: ignore[no-untyped-def] # as above
        super().shutdown_request(request)
        self.hung_up.set()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counting

    def do_GET(self) -> None:
        self.server.together.wait(10.0)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"hi")
        self.close_connection = self.server.hang_up

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def server() -> Iterator[Counting]:
    with Counting() as counting:
        thread = threading.Thread(target=counting.serve_forever, args=(0.01,))
        thread.start()
        yield counting
        counting.shutdown()
        thread.join()


@contextmanager
def client(web) -> Iterator[httpx.Client]:  # type: ignore[no-untyped-def] # a module
    with web.Client(transport=Transport(web)) as one:
        yield one


@pytest.mark.parametrize("web", [httpx, httpx2])
def test_one_call_after_another_goes_over_one_connection(web, server: Counting) -> None:  # type: ignore[no-untyped-def]
    with client(web) as one:
        assert [one.get(server.url).text for _ in range(3)] == ["hi"] * 3
    assert server.connections == 1


def test_calls_at_the_same_time_have_one_each_and_give_it_back(server: Counting) -> None:
    server.together = threading.Barrier(4)
    with client(httpx2) as one, ThreadPoolExecutor(4) as threads:
        for _ in range(2):
            assert {reply.text for reply in threads.map(one.get, [server.url] * 4)} == {"hi"}
    assert server.connections == 4


def test_an_answer_that_nobody_reads_gives_its_connection_up(server: Counting) -> None:
    with client(httpx2) as one:
        with one.stream("GET", server.url):
            pass
        assert one.get(server.url).text == "hi"
        assert one.get(server.url).text == "hi"
    assert server.connections == 2


def test_a_connection_that_the_server_closed_is_made_anew(server: Counting) -> None:
    server.hang_up = True
    with client(httpx2) as one:
        assert one.get(server.url).text == "hi"
        assert server.hung_up.wait(10.0)
        assert one.get(server.url).text == "hi"
    assert server.connections == 2
