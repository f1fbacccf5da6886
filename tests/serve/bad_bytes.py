"""Bytes that are no valid request, each with a name. Every one must be refused with a 4xx status."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from bad_fields import SUBMIT, TOKEN

END = "\r\n\r\n"
SURE = f"Host: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}"
POST = f"POST /submit HTTP/1.1\r\n{SURE}\r\nContent-Type: application/json"
BODY = json.dumps(SUBMIT)
TLS = bytes.fromhex("16030100a5010000a10303") + bytes(154) + b"\r\n\r\n"

LINES: Mapping[str, str] = {
    "a method only": "GET",
    "an unknown version": "GET / HTTP/9",
    "null bytes": "\0\0\0",
    "no method": " /v1/ping HTTP/1.1",
    "no path": f"GET  HTTP/1.1\r\n{SURE}",
    "no version": f"GET /v1/ping\r\n{SURE}",
    "version 2": "PRI * HTTP/2.0\r\n\r\nSM",
    "version 0.9": "GET /v1/ping HTTP/0.9",
    "another protocol": "EHLO example.com",
    "a shell command": "; cat /etc/passwd",
    "a method with a space": f"GE T /v1/ping HTTP/1.1\r\n{SURE}",
    "a method with a null byte": f"GET\0 /v1/ping HTTP/1.1\r\n{SURE}",
    "a long method": f"{'G' * 30_000} /v1/ping HTTP/1.1\r\n{SURE}",
    "a path with a space": f"GET /v1/ ping HTTP/1.1\r\n{SURE}",
    "a path with a null byte": f"GET /v1/ping\0 HTTP/1.1\r\n{SURE}",
    "a path that is not ASCII": f"GET /v1/p\xefng HTTP/1.1\r\n{SURE}",
    "a path without a slash": f"GET v1/ping HTTP/1.1\r\n{SURE}",
    "a path without an end": "GET /" + "a" * 100_000,
    "an address as a path": f"GET http://example.com/v1/ping HTTP/1.1\r\n{SURE}",
    "a path for a proxy": f"CONNECT example.com:443 HTTP/1.1\r\n{SURE}",
    "the path *": f"OPTIONS * HTTP/1.1\r\n{SURE}",
    "a path above": f"GET /../../etc/passwd HTTP/1.1\r\n{SURE}",
    "a change of protocol": f"GET /ws HTTP/1.1\r\n{SURE}\r\nConnection: Upgrade\r\nUpgrade: websocket",
    "no host in version 1.1": "GET /v1/ping HTTP/1.1",
    "no host in version 1.0": "GET /v1/ping HTTP/1.0",
    "two hosts": f"POST /submit HTTP/1.1\r\nHost: a\r\n{SURE}",
    "two hosts that are the same": f"GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\n{SURE}",
    "a host with a user": "GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1@example.com",
    "a host with a path": f"GET /v1/ping HTTP/1.1\r\nHost: example.com/127.0.0.1\r\nAuthorization: Bearer {TOKEN}",
    "a host that is a number": "GET /v1/ping HTTP/1.1\r\nHost: 2130706433",
    "two tokens": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nAuthorization: Bearer x",
    "a header without a colon": "GET /\r\nno colon",
    "a header without a name": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\n: x",
    "a header with a space": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nX Y: z",
    "a header with a space before its colon": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nX : y",
    "a header with a null byte": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nX: \0",
    "a header with a carriage return": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nX: a\rb",
    "a name that is not ASCII": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\n\xdc: x",
    "a continued first header": "GET /v1/ping HTTP/1.1\r\n Host: 127.0.0.1",
    "a long header": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nX: {'a' * 200_000}",
    "a long name": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\n{'a' * 200_000}: x",
    "many headers": f"GET /v1/ping HTTP/1.1\r\n{SURE}" + "".join(f"\r\nX-{n}: y" for n in range(20_000)),
    "an origin": f"GET /v1/ping HTTP/1.1\r\n{SURE}\r\nOrigin: https://example.com",
    "a preflight request": f"OPTIONS /submit HTTP/1.1\r\n{SURE}\r\nOrigin: null\r\nAccess-Control-Request-Method: POST",
    "two types": f"{POST.replace('application/json', 'a/b')}\r\nContent-Type: application/json\r\nContent-Length: 2",
}  # fmt: skip
LENGTHS = (
    "-1", "+5", "5,6", "0x5", "5.0", "1_0", "x", "", "5 5", "\u00b2", "9" * 30, "9" * 5000, "1073741824", "33554433",
    "5\r\nContent-Length: 6",
)  # fmt: skip
CODINGS = (
    "gzip",
    "chunked, gzip",
    "identity",
    "xchunked",
    "chunked, chunked",
    "chunked\r\nTransfer-Encoding: gzip",
    "",
)
CHUNKS: Mapping[str, str] = {
    "no number": f"zz\r\n{BODY}\r\n0{END}",
    "a negative number": f"-5\r\n{BODY}\r\n0{END}",
    "a number with a prefix": f"0x5\r\n{BODY}\r\n0{END}",
    "a number that is too large": f"{'f' * 21}\r\n{BODY}",
    "too small a number": f"5\r\n{BODY}\r\n0{END}",
    "no line break": f"{len(BODY):x}{BODY}0{END}",
    "a null byte": f"\0\r\n{BODY}\r\n0{END}",
    "a long extension": f"1;{'a' * 200_000}\r\n{{\r\n0{END}",
    "nothing": f"0{END}",
    "half of the body": f"{len(BODY) // 2:x}\r\n{BODY[: len(BODY) // 2]}\r\n0{END}",
    "more than the body": f"{len(BODY) + 1:x}\r\n{BODY}}}\r\n0{END}",
    "a bad trailer": f"{len(BODY):x}\r\n{BODY}\r\n0\r\nno colon{END}",
}


def bad_bytes() -> Iterator[tuple[str, bytes]]:
    """All of them, with their names."""
    yield "TLS", TLS
    for name, line in LINES.items():
        yield name, (line + END).encode("latin-1")
    for length in LENGTHS:
        yield f"length {length[:30]!r}", f"{POST}\r\nContent-Length: {length}{END}{BODY}".encode("latin-1")
    for coding in CODINGS:
        yield f"coding {coding!r}", f"{POST}\r\nTransfer-Encoding: {coding}{END}{BODY}".encode("latin-1")
    for name, body in CHUNKS.items():
        yield f"a chunk with {name}", f"{POST}\r\nTransfer-Encoding: chunked{END}{body}".encode("latin-1")
