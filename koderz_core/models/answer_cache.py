"""Answers of models that later benchmarks may use again: a file in the cache folder, limited in size.

Each operation opens the file by itself, so any thread and any process may use the cache. A file that cannot be read
never breaks a benchmark: its answers are only missing.
"""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.errors import DataError, ModelError
from koderz_core.models.capabilities import honoured
from koderz_core.models.catalogue import address_of, resolve
from koderz_core.models.providers import PROVIDERS, capabilities_of, sets_context
from koderz_core.records import Completion, Cost, Request, fingerprint

_LOG = logging.getLogger("koderz")
FILE = "answers.sqlite"
BYTES_PER_MB = 1_000_000
FORM = 1
"""The version of what an answer depends on; another version finds none of the earlier answers."""
FREED = 10  # a full cache drops one answer in this number, the oldest first

Draw = tuple[str | int, ...]
"""Names one call among all calls of all benchmarks: dataset, configuration, problem, repeat, seed and ordinal."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, the ``cost`` of its call, and where and when (seconds since 1970) that call was made."""

    completion: Completion
    cost: Cost
    experiment: str
    at: float


@dataclass(frozen=True, slots=True)
class Contents:
    """How many answers a cache holds, and the size of its file in bytes."""

    answers: int
    size: int


_KEPT = msgspec.json.Decoder(Kept)


class AnswerCache:
    """The answers in one file. May be used from any thread."""

    def __init__(self, path: Path, most_bytes: float) -> None:
        self._path, self._most_bytes = path, most_bytes
        self._warned = False

    def find(self, key: str) -> Kept | None:
        """The answer that was kept under this key, None if there is none."""
        if not self._path.exists():
            return None
        with self._faults(), self._opened() as db:
            row = db.execute("select answer from answers where key = ?", [key]).fetchone()
            return _KEPT.decode(zlib.decompress(row[0])) if row else None
        return None

    def keep(self, key: str, kept: Kept) -> None:
        """Keep an answer. The first answer under a key stays, because other benchmarks may have used it."""
        with self._faults(), self._opened() as db:
            answer = zlib.compress(msgspec.json.encode(kept))
            db.execute("insert or ignore into answers (key, answer) values (?, ?)", [key, answer])
            db.commit()
            if _used_bytes(db) > self._most_bytes:
                number = _number(db) // FREED + 1
                db.execute("delete from answers where id in (select id from answers order by id limit ?)", [number])
                db.commit()

    def contents(self) -> Contents:
        """Raises DataError if the file cannot be read."""
        if not self._path.exists():
            return Contents(0, 0)
        try:
            with self._opened() as db:
                return Contents(_number(db), self._path.stat().st_size)
        except (sqlite3.Error, OSError) as error:
            raise DataError(
                f"{self._path} cannot be read: {error}. Delete the file, or free some disk space."
            ) from error

    def clear(self) -> None:
        """Delete all answers."""
        for left in ("", "-journal"):
            self._path.with_name(self._path.name + left).unlink(missing_ok=True)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, timeout=30)) as db:
            db.execute("pragma synchronous = off")  # after a power failure, a damaged answer is only missing
            db.execute("create table if not exists answers (id integer primary key, key text unique, answer blob)")
            yield db

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, zlib.error, msgspec.MsgspecError, OSError) as error:
            if not self._warned:
                _LOG.warning(
                    "The response cache %s cannot be used (%s), so koderz requests all answers from the models.",
                    self._path,
                    error,
                )
                self._warned = True


def _number(db: sqlite3.Connection) -> int:
    return int(db.execute("select count(*) from answers").fetchone()[0])


def _used_bytes(db: sqlite3.Connection) -> int:
    pages, free, size = (db.execute(f"pragma {name}").fetchone()[0] for name in _SIZES)
    return int((pages - free) * size)


_SIZES = ("page_count", "freelist_count", "page_size")


class Served:
    """The properties of models, other than the request, on which their answers depend. Thread-safe.

    ``version``: returns the version of a model, "" if its server does not report one.
    """

    def __init__(self, settings: Settings, version: Callable[[str, Settings], str] | None = None) -> None:
        self._settings, self._version = settings, version or version_of
        self._known: dict[str, str | None] = {}

    def key(self, model: str, request: Request, draw: Draw) -> str | None:
        """The key of an answer; None if it must not be kept: the version of the model is not available now.

        What the limits of a turn allow is a measurement, so such answers are not kept either.
        """
        if request.turn_seconds is not None or (served := self._served(model)) is None:
            return None
        sent = honoured(request, capabilities_of(model, self._settings))
        return fingerprint((FORM, served, request, sent, draw))

    def _served(self, model: str) -> str | None:
        if model not in self._known:
            try:
                self._known[model] = self._properties(model)
            except ModelError as error:
                _LOG.warning("Answers of %s are not cached, because the model's version is unknown: %s", model, error)
                self._known[model] = None
        return self._known[model]

    def _properties(self, model: str) -> str:
        settings, provider = self._settings, model.partition("/")[0]
        context = settings.num_ctx if sets_context(model) else None
        tier = settings.openai_service_tier if provider == "openai" else None
        return fingerprint(
            (model, address_of(provider, settings), context, tier, settings.timeout, self._version(model, settings))
        )


def version_of(model: str, settings: Settings) -> str:
    """The version of a model (by id), "" if its provider does not report one. Raises ModelError."""
    card = resolve(model, settings)
    provider = PROVIDERS[card.provider]
    return provider.version_at(card.name, provider.places(settings) or {"": settings})


def answer_cache(settings: Settings) -> AnswerCache:
    """The cache of a data folder."""
    return AnswerCache(settings.cache_dir / FILE, settings.cache_mb * BYTES_PER_MB)
