"""The models that one process keeps open, and the guard that keeps keys out of their prompts and answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from koderz_core.config import Settings
from koderz_core.models.availability import require
from koderz_core.models.catalogue import check_allowed, resolve
from koderz_core.models.machine import Machine, MeteredModel, gpu_joules
from koderz_core.models.pricing import runs_here
from koderz_core.models.provider import ModelCard, Programs
from koderz_core.models.providers import PROVIDERS, create
from koderz_core.models.rapl import cpu_joules
from koderz_core.models.residency import Copies, Loadable, Residency, ResidentModel
from koderz_core.models.server import causes
from koderz_core.protocols import Model, OnText
from koderz_core.records import Completion, Request
from koderz_core.redaction import Redaction


class OpenModels:
    """Models by id, each opened at its first use. Thread-safe."""

    def __init__(
        self, settings: Settings, programs: Callable[[str], Mapping[str, str]], residency: Residency | None = None
    ) -> None:
        """``programs``: returns a correct program for each problem of a dataset. Only scripted models call it.

        ``residency``: decides which models are in memory at the same time.
        """
        self._settings = settings
        self._programs = programs
        self._models: dict[tuple[str, str], Model] = {}
        self._residency = residency or Residency()
        self._machine: Machine | None = None
        self._guard = threading.Lock()  # guards both: two threads must not load the same weights twice

    def get(self, name: str, dataset: str) -> Model:
        """The model of that name. Raises UnknownNameError, ModelError, or PlanError if it is not allowed."""
        card = resolve(name, self._settings)
        check_allowed([card.id], self._settings)
        key = (card.id, dataset if card.provider == "scripted" else "")  # other models are the same for all datasets
        with self._guard:
            if key not in self._models:
                model = self._opened(card, lambda: self._programs(dataset))
                self._models[key] = GuardedModel(model, self._settings.redaction())
            return self._models[key]

    def _opened(self, card: ModelCard, programs: Programs) -> Model:
        """The model, at each of its addresses.

        The memory of models that koderz can unload is shared: a call of one may unload others.
        """
        provider, replicas, loadable = PROVIDERS[card.provider], dict[str, Model](), list[Loadable]()
        for address, settings in (provider.places(self._settings) or {"": self._settings}).items():
            model = create(card, settings, programs)
            memory = provider.memory(card.name, settings) or (model if isinstance(model, Loadable) else None)
            here = runs_here(card, settings)
            replicas[address] = self._metered(model, card) if here else model
            if here and memory:
                loadable.append(memory)
                replicas[address] = ResidentModel(replicas[address], self._residency)
        if loadable:
            self._residency.add(card.id, Copies(tuple(loadable)) if len(loadable) > 1 else loadable[0])
        return ReplicatedModel(card.id, replicas) if len(replicas) > 1 else replicas.popitem()[1]

    def _metered(self, model: Model, card: ModelCard) -> Model:
        """Models that run on this machine share its time and energy."""
        if self._machine is None:
            self._machine = Machine(
                gpu_joules=gpu_joules() if self._settings.measure_gpu else None,
                cpu_joules=cpu_joules() if self._settings.measure_cpu else None,
            )
        return MeteredModel(model, self._machine, one_by_one=PROVIDERS[card.provider].one_by_one)

    def ready(self, names: Iterable[str], dataset: str) -> dict[str, Model]:
        """The models of these names. Raises ModelError if one is known to be unable to answer now."""
        for name in sorted(names):
            require(name, self._settings)
        return {name: self.get(name, dataset) for name in names}

    def abandon(self, seconds: float = 1.0) -> None:
        """Close every model now; wait at most ``seconds`` for calls under way. For a process that is about to end."""
        closing = [threading.Thread(target=model.close, daemon=True) for model in list(self._models.values())]
        for thread in closing:
            thread.start()
        deadline = time.monotonic() + seconds
        for thread in closing:
            thread.join(max(0.0, deadline - time.monotonic()))

    def close(self) -> None:
        """Close every model. Idempotent."""
        with self._guard:
            for model in self._models.values():
                model.close()
            self._models.clear()


class ReplicatedModel:
    """A model that has several addresses: each request names the one to ask."""

    def __init__(self, name: str, replicas: Mapping[str, Model]) -> None:
        """``replicas``: the model at each address; the first one answers requests that name none of them."""
        self.id, self._replicas = name, replicas

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As the model at that address."""
        return (self._replicas.get(request.address) or next(iter(self._replicas.values()))).complete(request, on_text)

    def close(self) -> None:
        """As the model, at all addresses."""
        for replica in self._replicas.values():
            replica.close()


class GuardedModel:
    """A model whose prompts, answers, streamed pieces and errors are redacted: no key gets in or out."""

    def __init__(self, model: Model, redaction: Redaction) -> None:
        self.id, self._model, self._redaction = model.id, model, redaction

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """As the model. ``on_text`` is called for every piece, with "" if the text is held back: it may end the call.

        Text that is held back comes with a later piece, or at the end.
        """
        stream = self._redaction.stream()
        try:
            completion = self._model.complete(
                self._sent(request), on_text and (lambda piece: on_text(stream.take(piece)))
            )
        except Exception as error:
            for cause in causes(error):
                cause.args = tuple(self._redaction.text(part) if isinstance(part, str) else part for part in cause.args)
            raise
        if on_text and (rest := stream.rest()):
            on_text(rest)
        tier = completion.usage.service_tier
        usage = replace(completion.usage, service_tier=tier and self._redaction.text(tier))
        return replace(completion, text=self._redaction.text(completion.text), usage=usage)

    def _sent(self, request: Request) -> Request:
        clean = (replace(message, content=self._redaction.prompt(message.content)) for message in request.messages)
        return replace(request, messages=tuple(clean))

    def close(self) -> None:
        """As the model."""
        self._model.close()
