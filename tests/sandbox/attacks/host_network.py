"""Host attacks over sockets, by the ways that a filter for plain TCP connections would not see."""

from __future__ import annotations

from .records import Host

UNIX = "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)"


def _sends(name: str, *lines: str, needs: str = "") -> Host:
    body = "".join(f"    {line}\n" for line in lines)
    return Host(name, f"import os, socket\ndef attack(x):\n{body}", needs=needs)


NETWORK_ATTACKS = (
    _sends("sends a datagram", "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', UDP))"),
    _sends(
        "sends a datagram without an address",
        "s = socket.socket(type=socket.SOCK_DGRAM)",
        "s.connect(('127.0.0.1', UDP))",
        "s.send(b'x')",
    ),
    _sends("connects over IPv6", "socket.create_connection(('::1', TCP6), 2)"),
    _sends(
        "connects with its first data", "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', TCP))"
    ),  # MSG_FASTOPEN
    _sends(
        "connects over several paths",
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(('127.0.0.1', TCP))",
    ),
    _sends(
        "connects without waiting",
        "s = socket.socket()",
        "s.setblocking(False)",
        "s.connect_ex(('127.0.0.1', TCP))",
        "import time",
        "time.sleep(0.2)",
    ),
    _sends("listens", "s = socket.create_server(('127.0.0.1', 0))", "return 'REACHED'"),
    _sends("listens without an address", "s = socket.socket()", "s.listen()", "return 'REACHED'"),
    _sends("sends to a socket in a folder", f"{UNIX}.sendto(b'x', FOLDER + '/socket')"),
    _sends("sends to an abstract socket", f"{UNIX}.sendto(b'x', '\\0' + ID)"),
    _sends(
        "sends a descriptor away",
        f"s = {UNIX}",
        "s.connect(FOLDER + '/socket')",
        "socket.send_fds(s, [b'x'], [s.fileno()])",
    ),
    _sends("asks for the network's interfaces", "return 'REACHED' if socket.if_nameindex() else ''"),
    _sends(
        "speaks with the kernel by netlink",
        "s = socket.socket(16, socket.SOCK_RAW, 0)",
        "s.bind((0, 0))",
        "s.send(bytes([17, 0, 0, 0, 18, 0, 1, 3] + [0] * 9 + [0] * 3))",
        "return 'REACHED' if s.recv(999) else ''",
    ),
    _sends(
        "asks for the processes that the kernel reports", "socket.socket(16, socket.SOCK_DGRAM, 4)", "return 'REACHED'"
    ),
    _sends("looks a name up", "return 'REACHED' if socket.getaddrinfo('localhost', 80) else ''"),
    _sends("opens a pair of datagram sockets", "socket.socketpair(type=socket.SOCK_DGRAM)", "return 'REACHED'"),
    _sends(
        "sends from a pair of sockets to another one",
        "socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', FOLDER + '/socket')",
    ),
    _sends(
        "listens with one of a pair of sockets", "socket.socketpair()[0].bind('\\0koderz' + ID)", "return 'REACHED'"
    ),
    _sends("opens a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "return 'REACHED'", needs="root"),
    _sends(
        "opens a socket of packets",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "return 'REACHED'",
        needs="root",
    ),
    _sends(
        "serves in a loop of asyncio",
        "import asyncio",
        "async def speak(): (await asyncio.open_connection('127.0.0.1', TCP))[1].write(b'x')",
        "asyncio.run(speak())",
    ),
    _sends(
        "fetches a page", "import urllib.request", "urllib.request.urlopen(f'http://127.0.0.1:{TCP}/', timeout=0.3)"
    ),
)
