"""One connection between a worker and the owner: frames of messages, in order, after a handshake with a shared key.

The key and everything else travel unencrypted: the link is for networks that you trust, as Dask's own traffic is.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge

from koderz_core.dask_engine.messages import FromOwner, FromWorker, packed

MOST_BYTES = 1 << 30  # of a frame: the problems of repositories hold whole trees
BATCH_SECONDS = 0.1  # how long a message that needs no answer may wait for others
HANDSHAKE_SECONDS = 20.0
_NOTICED = {  # a machine without power says no goodbye: this link is then lost after about 40 s, by default 2 hours
    "TCP_KEEPIDLE": 20,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 4,
    "TCP_USER_TIMEOUT": 40_000,
}

Message = FromWorker | FromOwner


class Link:
    """Sends messages from any thread; one thread receives. A lost connection is a value, never an exception."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        _tune(connection)
        self._guard = threading.Lock()  # guards the connection while a frame is sent, and _waiting
        self._waiting: list[Message] = []
        self._due = threading.Event()
        self.lost = threading.Event()
        self.halting = False  # on a worker: whether it must ask before each step
        threading.Thread(target=self._flush_regularly, name="link", daemon=True).start()

    def post(self, *messages: Message) -> None:
        """Send messages within ``BATCH_SECONDS``, together with later ones."""
        with self._guard:
            self._waiting += messages
        self._due.set()

    def send(self, *messages: Message) -> None:
        """Send messages now, after all those that were posted."""
        with self._guard:
            self._waiting += messages
            self._send_waiting()

    def receive(self) -> bytes | None:
        """The next frame; None once the connection is lost."""
        try:
            return self._connection.recv_bytes(MOST_BYTES)
        except (EOFError, OSError):
            self.close()
            return None

    def send_raw(self, frame: bytes) -> None:
        """Send a frame that is not of messages: the first one of a worker."""
        with self._guard:
            self._write(frame)

    def close(self) -> None:
        """End the connection; the other side notices at once. Idempotent."""
        self.lost.set()
        self._due.set()
        _shut(self._connection)

    def _send_waiting(self) -> None:
        messages, self._waiting = self._waiting, []
        if messages:
            self._write(packed(messages))

    def _write(self, frame: bytes) -> None:
        if self.lost.is_set():
            return
        try:
            self._connection.send_bytes(frame)
        except OSError:
            self.lost.set()

    def _flush_regularly(self) -> None:
        while not self.lost.is_set():
            self._due.wait()
            self._due.clear()
            self.lost.wait(BATCH_SECONDS)
            with self._guard:
                self._send_waiting()


def _shut(connection: Connection) -> None:
    """Wake the threads that receive, which closing the file alone does not."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as held:
        held.shutdown(socket.SHUT_RDWR)


def _tune(connection: Connection) -> None:
    """Without this, TCP holds small messages back until earlier ones are acknowledged, and a lost machine for hours."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as held:
        held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _NOTICED.items():
            if option := getattr(socket, name, None):  # macOS lacks some
                held.setsockopt(socket.IPPROTO_TCP, option, value)


def connect(address: tuple[str, int], key: bytes) -> Link:
    """The worker's end. Raises OSError, AuthenticationError, EOFError."""
    with socket.create_connection(address, HANDSHAKE_SECONDS) as made:
        made.setblocking(True)
        connection = Connection(made.detach())
    with _in_time(connection):
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
    return Link(connection)


@contextmanager
def _in_time(connection: Connection) -> Iterator[None]:
    """Shake hands inside: whoever is silent at the other end holds no thread for long."""
    late = threading.Timer(HANDSHAKE_SECONDS, _shut, (connection,))
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()


class Entrance:
    """Listens for workers. ``welcome`` receives each link whose other end has the key, in a thread of its own."""

    def __init__(self, host: str, key: bytes, welcome: Callable[[Link], None]) -> None:
        self._listener = Listener((host, 0), "AF_INET", backlog=64)
        self.port: int = self._listener.address[1]
        self._key, self._welcome = key, welcome
        self._closed = False
        threading.Thread(target=self._accept, name="entrance", daemon=True).start()

    def close(self) -> None:
        """Accept no more workers. Idempotent."""
        self._closed = True
        with suppress(OSError):
            self._listener.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection = self._listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._admit, args=(connection,), name="link", daemon=True).start()

    def _admit(self, connection: Connection) -> None:
        try:
            with _in_time(connection):
                deliver_challenge(connection, self._key)
                answer_challenge(connection, self._key)
        except (AuthenticationError, EOFError, OSError):
            connection.close()
            return
        self._welcome(Link(connection))
