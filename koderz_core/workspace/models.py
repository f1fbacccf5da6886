"""Models of a workspace: which can be used, one call outside any experiment, and the limits of each provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.errors import ModelError, UnknownNameError
from koderz_core.models import availability
from koderz_core.models.availability import AboutModel, Availability
from koderz_core.models.catalogue import check_allowed, identity, resolve
from koderz_core.models.free_memory import read_memory, reserve_bytes
from koderz_core.models.in_memory import InMemory, in_memory
from koderz_core.models.machine import gpu_memory
from koderz_core.models.open_models import OpenModels
from koderz_core.models.providers import PROVIDERS, capabilities_of
from koderz_core.models.residency import Residency, limit_of
from koderz_core.models.weights import fetch, weights_of
from koderz_core.models.weights_download import Progress, Report
from koderz_core.protocols import Model
from koderz_core.records import Completion, Message, Plan, Request, Sampling
from koderz_core.runner.memory_watch import MemoryWatch, Sample
from koderz_core.runner.provider_limits import AddressState, Endpoints
from koderz_core.runner.scheduler import Scheduler, Slot

__all__ = ["AboutModel", "Availability", "Models", "Progress"]


class Models:
    """Calls models for all benchmarks of a workspace, which share the limits of each provider (``lanes``)."""

    def __init__(self, settings: Settings, programs: Callable[[str], Mapping[str, str]]) -> None:
        """``programs``: returns a correct program for each problem of a dataset; only scripted models need it.

        ``residency``: the models of this process that are in memory; ``memory``: its watchdog.
        """
        self._settings = settings
        self.residency = Residency(limit_of(settings.model_memory_gb), self._free_bytes)
        self.memory = MemoryWatch(read_memory, partial(reserve_bytes, settings=settings), self.residency, gpu_memory())
        self._open = OpenModels(settings, programs, self.residency)
        self.ready = self._open.ready
        self.abandon = self._open.abandon
        self.endpoints = Endpoints(cache(self._address), settings.limits, settings.patience, addresses=self._addresses)

    def close(self) -> None:
        """Stop the watchdog and close every model. Idempotent."""
        self.memory.close()
        self._open.close()

    def get(self, name: str, dataset: str = "humaneval") -> Model:
        """Return a model by name, which stays open until the workspace is closed. Raises UnknownNameError, ModelError.

        ``dataset``: the dataset whose problems a scripted model knows.
        """
        return self._open.get(name, dataset)

    def ask(self, name: str, prompt: str, max_tokens: int = 256) -> Completion:
        """Call a model once, outside any experiment, when the limits of its provider allow it. Raises ModelError."""
        model = self.get(name)
        request = Request((Message("user", prompt),), Sampling(max_tokens=max_tokens), seed=0)
        with self.endpoints.of(model.id).admitted(request, Slot(Scheduler(), "", "")) as admission:
            try:
                admission.answer = model.complete(replace(request, address=admission.address), lambda _text: None)
            except ModelError as error:
                admission.error = error
                raise
            return admission.answer

    def survey(self) -> list[Availability]:
        """Return every known model, with the information whether it can be called now or what it lacks.

        Raises ConfigError.
        """
        return availability.survey(self._settings)

    def lacking(self, plan: Plan, surveyed: Iterable[Availability]) -> list[Availability]:
        """Return the models of a plan that cannot be called now, according to an earlier ``survey``."""
        return availability.lacking(plan.models(), surveyed)

    def about(self, name: str) -> AboutModel:
        """Return the capabilities, limits and price of a model. Raises UnknownNameError, ConfigError."""
        return availability.about(name, self._settings)

    def efforts(self, name: str) -> tuple[str, ...]:
        """Return the words for the reasoning effort of a model; ``TOKENS`` among them: it accepts a number of tokens.

        Empty for a model that is not known or accepts no effort. Raises ConfigError.
        """
        try:
            return capabilities_of(resolve(name, self._settings).id, self._settings).effort
        except UnknownNameError:
            return ()

    def full_name(self, name: str) -> str:
        """Return the id of the model with this short name. Raises UnknownNameError."""
        return resolve(name, self._settings).id

    def first_ready_local(self) -> str | None:
        """Return a model that Ollama or LM Studio serves now, preferably one for coding; None if neither serves one."""
        return availability.first_ready_local(self._settings)

    def require_runtime(self, model: str) -> None:
        """Raise PlanError if an embedded model (by id) is not allowed, ModelError if none can run on this machine."""
        check_allowed([model], self._settings)
        availability.require_runtime(self._settings)

    def fetch_weights(self, name: str, report: Report) -> Path:
        """Return the file of an embedded model's weights; download it if necessary.

        Raises WeightsError, UnknownNameError.
        """
        return fetch(weights_of(name), self._settings, report)

    def in_memory(self) -> tuple[InMemory, ...]:
        """Return the local models in the memory of this machine, and who loaded them."""
        return in_memory(self._settings, self.residency.loaded())

    def memory_samples(self) -> tuple[Sample, ...]:
        """Return the memory of the last minutes, the oldest sample first; from the first call on it is sampled."""
        if not self.memory.samples():
            self.memory.sample()
        self.memory.begin()
        return self.memory.samples()

    def addresses(self) -> tuple[AddressState, ...]:
        """Return the calls of this process to each address that it has asked, and the state of each."""
        return self.endpoints.states()

    def reserve_bytes(self, sample: Sample) -> int:
        """Return the memory that koderz leaves free."""
        return reserve_bytes(sample.memory.total_bytes, self._settings)

    def _free_bytes(self) -> int | None:
        """The free memory without the reserve."""
        memory = read_memory()
        return None if memory is None else memory.free_bytes - reserve_bytes(memory.total_bytes, self._settings)

    def _address(self, model: str) -> str:
        """The name of a model's addresses."""
        return " and ".join(self._addresses(model))

    def _addresses(self, model: str) -> tuple[str, ...]:
        """The addresses that a model's limits are counted for; the model's own id if it runs without a server."""
        provider, _, name = model.partition("/")
        if away := PROVIDERS[provider].away(name):
            return (identity(away),)
        return tuple(PROVIDERS[provider].places(self._settings)) or (model,)
