"""The memory that a model needs, estimated from the metadata of its GGUF file.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (version 3, November 2026). Ollama reports the
same metadata of its models.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

Value = int | float | bool | str
"""A value of the metadata. Of an array, only its length is read."""

PROCESS_BYTES, WORD_BYTES = 35_000_000, 500
"""A process of llama.cpp without a model, and its memory for each word of the vocabulary (measured, October 2026)."""
REPACKED = {2: 18 / 32, 12: 144 / 256}
"""The types of tensors (Q4_0 and Q4_K) of which llama.cpp keeps a copy in another order on processors, and the bytes
of each number. Only the table of words is read where it is."""
_MOST_BYTES = 1 << 30  # of metadata: more is not a GGUF file
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Need:
    """The memory of a loaded model in bytes: its weights, one token of its context, and its buffers."""

    weights_bytes: int
    context_bytes: int
    working_bytes: int

    def total_bytes(self, num_ctx: int) -> int:
        """With a full context of this number of tokens."""
        return self.weights_bytes + num_ctx * self.context_bytes + self.working_bytes


def need_of_file(path: Path) -> Need | None:
    """The memory that the model in a GGUF file needs; None if the file is not a GGUF file with a known shape."""
    try:
        status = path.stat()
        return _need_of_file(path, status.st_size, status.st_mtime_ns)
    except (OSError, ValueError, struct.error):
        return None


@lru_cache(maxsize=64)
def _need_of_file(path: Path, size_bytes: int, _changed_at: int) -> Need | None:
    header = read_header(path)
    return need_of(header.metadata, size_bytes, header.repacked_bytes)


def need_of(metadata: Mapping[str, object], size_bytes: int, repacked_bytes: int = 0) -> Need | None:
    """The memory of a model with this metadata and a file of this size; None if its shape is unknown.

    Keys and values of every layer take 16 bits each. Too high for models in which only some layers attend to the whole
    context.
    """
    kind = metadata.get("general.architecture")

    def number(name: str, default: int | None = None) -> int:
        value = metadata.get(f"{kind}.{name}", default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 32:
            raise ValueError(name)
        return value

    try:
        heads = number("attention.head_count")
        width = number("embedding_length") // heads
        shared = number("attention.head_count_kv", heads)
        each = number("attention.key_length", width) + number("attention.value_length", width)
        layers = number("block_count")
    except ValueError:
        return None
    words = metadata.get("tokenizer.ggml.tokens") or metadata.get(f"{kind}.vocab_size") or 0
    working = PROCESS_BYTES + WORD_BYTES * (words if isinstance(words, int) else 0) + repacked_bytes
    return Need(size_bytes, 2 * layers * shared * each, working)


@dataclass(frozen=True, slots=True)
class Header:
    """The metadata of a GGUF file, and the bytes of its tensors that llama.cpp copies on processors."""

    metadata: Mapping[str, Value]
    repacked_bytes: int


def read_header(path: Path) -> Header:
    """The header of a GGUF file. Raises ValueError, struct.error, OSError if it is not one."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        reader = _Reader(content)
        magic, version = reader.take("4s"), reader.take("I")
        if magic != b"GGUF" or not 2 <= version <= 3:
            raise ValueError(f"{path} is not a GGUF file of version 2 or 3")
        tensors, entries = reader.take("Q"), reader.take("Q")
        metadata = {reader.text(): reader.value(reader.take("I")) for _ in range(entries)}
        return Header(metadata, sum(reader.repacked() for _ in range(tensors)))


class _Reader:
    """Reads values one after the other, little-endian. Whatever a file states, it does not read beyond its end."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._end = min(len(content), _MOST_BYTES)
        self._at = 0

    def take(self, form: str) -> Any:  # Any: as ``struct``
        """The next scalar of a form of ``struct``."""
        (value,) = struct.unpack_from(f"<{form}", self._content, self._skip(struct.calcsize(f"<{form}")))
        return value

    def text(self) -> str:
        length = self.take("Q")
        start = self._skip(length)
        return self._content[start : start + length].decode(errors="replace")

    def value(self, kind: int) -> Value:
        """The next value of a type of the format; the length of an array."""
        if kind == _STRING:
            return self.text()
        if kind != _ARRAY:
            scalar: Value = self.take(self._form(kind))
            return scalar
        inner: int = self.take("I")
        length: int = self.take("Q")
        if inner == _STRING:
            self._skip_texts(length)
        elif inner == _ARRAY:
            for _ in range(length):
                self.value(_ARRAY)
        else:
            self._skip(length * struct.calcsize(self._form(inner)))
        return length

    def _skip_texts(self, number: int) -> None:
        """A vocabulary has hundreds of thousands of texts, so this makes no call of ``take`` for each."""
        read, size, at = _LENGTH.unpack_from, _LENGTH.size, self._at
        for _ in range(number):
            at += size + read(self._content, at)[0]
            if at > self._end:
                break
        self._skip(at - self._at)

    def repacked(self) -> int:
        """The bytes of the next tensor if llama.cpp copies it, else 0."""
        name, dimensions = self.text(), self.take("I")
        numbers = prod(self.take("Q") for _ in range(dimensions))
        each = REPACKED.get(self.take("I"), 0.0)
        self.take("Q")  # its place
        return 0 if name == "token_embd.weight" else int(numbers * each)

    def _form(self, kind: int) -> str:
        if kind not in _SCALARS:
            raise ValueError(f"unknown type {kind}")
        return _SCALARS[kind]

    def _skip(self, length: int) -> int:
        """Where the next ``length`` bytes start."""
        start, self._at = self._at, self._at + length
        if self._at > self._end:
            raise ValueError("the file ends within its metadata")
        return start
