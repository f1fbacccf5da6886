"""The local models that one process keeps in memory: which are loaded, which must be unloaded for others, and when.

Only models that koderz loaded itself are unloaded, and only while no call uses them. Calls and experiments that use a
loaded model come first, so that a benchmark does not load a model for every call. After ``TURN_SECONDS`` a model that
waits gets its turn all the same.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from koderz_core.models.free_memory import GB
from koderz_core.protocols import Model, OnText
from koderz_core.records import Completion, Request

TURN_SECONDS = 600.0
"""How long loaded models keep the memory while others wait for it: loading takes seconds, so it costs a percent."""
POLL_SECONDS = 0.2
FRESH_SECONDS = 60.0
"""How long after a call koderz assumes that its model is still loaded. Ollama keeps a model for 5 minutes."""


@runtime_checkable
class Loadable(Protocol):
    """A model whose memory koderz can free."""

    def needed_bytes(self) -> int | None:
        """The memory of the loaded model; None: unknown."""

    def is_loaded(self) -> bool:
        """Whether it is in memory now, whoever loaded it."""

    def unload(self) -> None:
        """Free its memory. It is loaded again by the next call. Raises nothing."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that koderz loaded: its id, memory and number of loads, and the calls that use it now."""

    model: str
    needed_bytes: int | None
    loads: int
    calls: int


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of one model in several servers on this machine, which are loaded and unloaded together."""

    of: tuple[Loadable, ...]

    def needed_bytes(self) -> int | None:
        """As ``Loadable``."""
        needed = [copy.needed_bytes() for copy in self.of]
        return None if None in needed else sum(filter(None, needed))

    def is_loaded(self) -> bool:
        """As ``Loadable``: whether a copy is in memory."""
        return any(copy.is_loaded() for copy in self.of)

    def unload(self) -> None:
        """As ``Loadable``."""
        for copy in self.of:
            copy.unload()


Place = Literal["out", "own", "foreign"]
"""Not in memory as far as koderz knows; loaded by koderz; loaded by another program, so never unloaded by koderz."""


@dataclass(slots=True)
class _Tenant:
    model: Loadable
    place: Place = "out"
    needed: int = 0  # bytes, 0 if unknown
    settled: bool = False  # its memory is in use, because a call has been answered
    calls: int = 0
    loads: int = 0
    used_at: float = float("-inf")


@dataclass(slots=True)
class Residency:
    """Decides which models may be loaded. Thread-safe.

    ``limit_bytes``: for all models that koderz loads; None: the ``free_bytes`` (without a reserve) are the limit.
    """

    limit_bytes: int | None = None
    free_bytes: Callable[[], int | None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    _held: bool = False  # no model may be loaded now, because the memory is low
    _tenants: dict[str, _Tenant] = field(default_factory=dict)
    _working: Counter[frozenset[str]] = field(default_factory=Counter)  # models of experiments that work
    _waiting_since: dict[frozenset[str], float] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)  # guards all of these

    def add(self, name: str, model: Loadable) -> None:
        """Manage the memory of a model from now on."""
        with self._changed:
            self._tenants[name] = _Tenant(model)

    def hold(self, *, held: bool) -> None:
        """Load no model until this is called again with False."""
        with self._changed:
            self._held = held
            self._changed.notify_all()

    def loads(self, models: frozenset[str]) -> int | None:
        """How many models must be exchanged for an experiment with these; None: it cannot start now.

        It can start if its models fit into memory together with those of the experiments that work, or if it needs no
        others.
        """
        with self._changed:
            wanted = self._managed(models)
            if not wanted:
                return 0
            missing = {name for name in wanted if self._tenants[name].place == "out"}
            busy = frozenset[str]().union(*self._working)
            fits = wanted <= busy or not busy or self._fit(wanted | busy)
            if not fits or (missing and self._held) or not self._has_turn(wanted):
                self._waiting_since.setdefault(wanted, self.clock())
                return None
            return 0 if self._fit(wanted | self._own()) else len(missing)

    def enter(self, models: frozenset[str]) -> None:
        """An experiment with these models works from now on."""
        with self._changed:
            self._working[self._managed(models)] += 1
            self._waiting_since.pop(self._managed(models), None)

    def leave(self, models: frozenset[str]) -> None:
        """An experiment with these models has ended, or waits."""
        with self._changed:
            self._working[self._managed(models)] -= 1
            self._working += Counter()  # drops zeros
            self._changed.notify_all()

    def withdraw(self, models: frozenset[str]) -> None:
        """No experiment with these models waits any more."""
        with self._changed:
            self._waiting_since.pop(self._managed(models), None)

    @contextmanager
    def used(self, name: str, check: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Make a call of a model inside: it waits until the model is loaded or may be, and unloads others for it.

        ``check`` is called while it waits, and may raise.
        """
        tenant, answered = self._begin(name, check), False
        try:
            yield
            answered = True
        finally:
            with self._changed:
                tenant.calls -= 1
                tenant.used_at = self.clock() if answered else float("-inf")  # its loading may have failed
                self._look(tenant)
                tenant.settled = tenant.place == "own"
                self._changed.notify_all()

    def unload_idle(self) -> tuple[str, ...]:
        """Unload all models that koderz loaded and no call uses; return their ids."""
        with self._changed:
            idle = [name for name in self._own() if not self._tenants[name].calls]
            self._unload(idle)
            return tuple(sorted(idle))

    def loaded(self) -> tuple[Loaded, ...]:
        """The models that koderz loaded in this process."""
        with self._changed:
            rows = [(name, self._tenants[name]) for name in sorted(self._own())]
            return tuple(Loaded(name, tenant.needed or None, tenant.loads, tenant.calls) for name, tenant in rows)

    def load_counts(self) -> dict[str, int]:
        """How often koderz has loaded each model."""
        with self._changed:
            return {name: tenant.loads for name, tenant in self._tenants.items() if tenant.loads}

    def _begin(self, name: str, check: Callable[[], None]) -> _Tenant:
        one = frozenset({name})
        with self._changed:
            tenant = self._tenants[name]
            self._look(tenant)
            since = self.clock()
            try:
                while not self._may_use(one, tenant):
                    self._waiting_since.setdefault(one, since)  # another call of this model may have removed it
                    self._changed.wait(POLL_SECONDS)
                    check()
            finally:
                self._waiting_since.pop(one, None)
            if tenant.place == "out":
                self._needed(name)
                self._free_space(name)
                tenant.place, tenant.settled = "own", False
                tenant.loads += 1
            tenant.calls += 1
            return tenant

    def _look(self, tenant: _Tenant) -> None:
        """Learn whether the model is in memory: a server may unload it, and other programs may load it."""
        if tenant.calls or self.clock() - tenant.used_at <= FRESH_SECONDS:
            return
        if not tenant.model.is_loaded():
            tenant.place = "out"
        elif tenant.place == "out":
            tenant.place = "foreign"

    def _managed(self, models: frozenset[str]) -> frozenset[str]:
        return models.intersection(self._tenants)

    def _own(self) -> frozenset[str]:
        return frozenset(name for name, tenant in self._tenants.items() if tenant.place == "own")

    def _may_use(self, one: frozenset[str], tenant: _Tenant) -> bool:
        if not self._has_turn(one):
            return False
        if tenant.place != "out":
            return True
        in_use = frozenset(name for name, other in self._tenants.items() if other.calls)
        return not self._held and (not in_use or self._fit(one | in_use))

    def _has_turn(self, wanted: frozenset[str]) -> bool:
        """Whether no other models have waited too long for memory that these keep from them."""
        now = self.clock()
        late = [
            other
            for other, since in self._waiting_since.items()
            if TURN_SECONDS < now - since <= 2 * TURN_SECONDS  # then they had their turn, or do not wait any more
        ]
        return all(other == wanted or self._fit(other | wanted) for other in late)

    def _fit(self, models: Collection[str]) -> bool:
        """Whether these models fit into memory together, without any others that koderz loaded."""
        return sum(map(self._needed, models)) <= self._limit()

    def _limit(self) -> float:
        if self.limit_bytes is not None:
            return self.limit_bytes
        free = self.free_bytes()
        return float("inf") if free is None else free + sum(t.needed for t in self._tenants.values() if t.settled)

    def _needed(self, name: str) -> int:
        tenant = self._tenants[name]
        tenant.needed = tenant.needed or tenant.model.needed_bytes() or 0
        return 0 if tenant.place == "foreign" else tenant.needed

    def _free_space(self, name: str) -> None:
        """Unload the models that have not been used for longest until this one fits; its call then loads it."""
        kept = set(self._own())
        idle = [other for other in kept if not self._tenants[other].calls]
        idle.sort(key=lambda other: self._tenants[other].used_at)
        leaving: list[str] = []
        for other in idle:
            if self._fit(kept - set(leaving) | {name}):
                break
            leaving.append(other)
        self._unload(leaving)

    def _unload(self, names: Collection[str]) -> None:
        for name in names:
            tenant = self._tenants[name]
            tenant.model.unload()
            tenant.place, tenant.settled = "out", False


class ResidentModel:
    """A model whose calls wait until it may be in memory."""

    def __init__(self, model: Model, residency: Residency) -> None:
        self.id, self._model, self._residency = model.id, model, residency

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As the model. ``on_text`` is called with "" while the call waits: it may end the call."""
        with self._residency.used(self.id, (lambda: on_text("")) if on_text else lambda: None):
            return self._model.complete(request, on_text)

    def close(self) -> None:
        """As the model."""
        self._model.close()


def limit_of(model_memory_gb: float | None) -> int | None:
    """The limit of the setting in bytes; None: the free memory is the limit."""
    return None if model_memory_gb is None else int(model_memory_gb * GB)
