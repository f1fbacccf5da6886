"""The models that one process keeps open: each is made when it is first asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping

from koderz_core.config import Settings
from koderz_core.models.availability import require
from koderz_core.models.catalogue import check_allowed, resolve
from koderz_core.models.guard import GuardedModel
from koderz_core.models.machine import Machine, MeteredModel, gpu_joules
from koderz_core.models.pricing import runs_here
from koderz_core.models.provider import ModelCard
from koderz_core.models.providers import create
from koderz_core.protocols import Model


class OpenModels:
    """Models by id. May be used from any thread."""

    def __init__(self, settings: Settings, programs: Callable[[str], Mapping[str, str]]) -> None:
        """``programs``: a dataset's name to a right program for each of its problems; only scripted models ask."""
        self._settings = settings
        self._programs = programs
        self._models: dict[tuple[str, str], Model] = {}
        self._machine: Machine | None = None
        self._guard = threading.Lock()  # guards both: two threads must not load the same weights twice

    def get(self, name: str, dataset: str) -> Model:
        """The model of that name. Raises UnknownNameError, ModelError, PlanError for one that may not be asked."""
        card = resolve(name, self._settings)
        check_allowed([card.id], self._settings)
        kept = (card.id, dataset if card.provider == "scripted" else "")  # any other model is the same for all
        with self._guard:
            if kept not in self._models:
                model = create(card, self._settings, lambda: self._programs(dataset))
                self._models[kept] = GuardedModel(self._metered(model, card), self._settings.redaction())
            return self._models[kept]

    def _metered(self, model: Model, card: ModelCard) -> Model:
        """What works on this machine shares it with all others that do."""
        if not runs_here(card, self._settings):
            return model
        if self._machine is None:
            measured = self._settings.measure_gpu
            self._machine = Machine(joules=gpu_joules()) if measured else Machine()
        return MeteredModel(model, self._machine, one_by_one=card.provider == "embedded")

    def ready(self, names: Iterable[str], dataset: str) -> dict[str, Model]:
        """The models of these names, each of which can be asked now as far as one can tell. Raises ModelError."""
        for name in sorted(names):
            require(name, self._settings)
        return {name: self.get(name, dataset) for name in names}

    def abandon(self, seconds: float = 1.0) -> None:
        """Let go of every model now; wait at most so long for calls in flight. For a process that is about to end."""
        closing = [threading.Thread(target=model.close, daemon=True) for model in list(self._models.values())]
        for thread in closing:
            thread.start()
        deadline = time.monotonic() + seconds
        for thread in closing:
            thread.join(max(0.0, deadline - time.monotonic()))

    def close(self) -> None:
        """Let go of every model. Idempotent."""
        with self._guard:
            for model in self._models.values():
                model.close()
            self._models.clear()
