"""Masks secrets, and texts that look like one, before a text leaves this machine.

A pattern is a guess: a secret that is short or an ordinary word is found only next to its name, or if it is
one of koderz' own keys.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

from koderz_core.redaction import MASK, without, without_shapes

_NAME = (
    r"(?:[\w-]{0,40}(?:key|token|secret|passw(?:or)?d|passphrase|passcode|pwd|credentials?|auth|authorization|cookie)"
    r"|(?:[\w-]{0,40}[_-])?pass)"
)
_QUOTED = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
_NAMED = re.compile(
    rf"(?i)(?<![\w-])({_NAME}[\"']?\s*=\s*|(?!pass\b){_NAME}[\"']?\s*:\s*|--?{_NAME}\s+)"  # "pass: 3" counts tests
    rf"(?:(?:bearer|basic)\s+)?(?!\[secret\])({_QUOTED}|\S+)"
)
_HEADER = re.compile(  # to its end, for any scheme and number of cookies; quotes only around a value
    rf"(?i)((?:authorization|cookie)[\"']?\s*:\s*)({_QUOTED}|[^\"'\n]+(?:(?<==)\"[^\"\n]*\"[^\"'\n]*)*)"
)
_BLOCK = re.compile(  # of PEM: a key to its end, or to the end of the text
    r"-----BEGIN [^-\n]{0,60}KEY[^-\n]{0,20}-----.*?(?:-----END [^-\n]{1,80}-----|\Z)", re.DOTALL
)
_OPTION = re.compile(rf"(?i)--?{_NAME}")
_LOGGING_IN = re.compile(r"-u|--(?:proxy-)?user")
_LOGGED_IN = re.compile(  # joe:hunter2, as in curl; an address after it is not a login
    rf"(?<![\w-])({_LOGGING_IN.pattern})((?:\s+|=)?[\"']?)[^\s:\"']{{1,200}}:(?!//)(?:[^\"'\s]+)"
)
_SHAPES = re.compile(  # that usually are keys
    r"(?<![\w-])(?:(?:sk|pk|rk)[-_][\w-]{8,}|(?i:bearer|basic)\s+[\w.+/=-]{8,}|https://hooks\.[^\s\"'<>]+)"
)
_LOGIN = re.compile(r"(?<=://)[^/\s@]{1,500}(?=@)")
_RANDOM = re.compile(
    r"^[^\S\n]*(?=\S*\d)[A-Za-z0-9+/=]{40,}[^\S\n]*$"  # a line of base64
    r"|(?<![\w+=-])(?:"
    r"(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])(?=[\w+=-]*\d)[\w+=-]{24,}"
    r"|(?=[a-z]*\d)[a-z0-9]{32,})",
    re.MULTILINE,
)


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with these secrets, texts in the shape of a key, and values with the name of a secret masked."""
    text = _HEADER.sub(rf"\1{MASK}", _BLOCK.sub(MASK, without(text, secrets)))
    text = masked_keys(text)
    return _NAMED.sub(rf"\1{MASK}", _LOGGED_IN.sub(rf"\1\2{MASK}", text))


def masked_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """As ``masked``, but values with the name of a secret stay: in a program, ``key = ...`` is seldom one."""
    return _LOGIN.sub(MASK, _SHAPES.sub(MASK, without_shapes(_BLOCK.sub(MASK, without(text, secrets)))))


def masked_output(text: str) -> str:
    """As ``masked``, and with long random strings masked too: for the output of any program."""
    return _RANDOM.sub(MASK, masked(text))


def masked_command(command: Sequence[str]) -> str:
    """A command for display: the name of its program, and its arguments with secrets masked."""
    return shlex.join(_arguments(command)).replace(f"'{MASK}'", MASK)


def _arguments(command: Sequence[str]) -> Iterator[str]:
    yield PurePath(command[0]).name
    for before, argument in pairwise(command):
        is_login = ":" in argument and _LOGGING_IN.fullmatch(before)
        yield MASK if is_login or _OPTION.fullmatch(before) else masked_output(argument)
