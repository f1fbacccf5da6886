"""Models of a workspace: one call policy for all, prices of calls, live text; and what experiments can recall.

Experiments can recall earlier specs, lessons and examples from other problems, and which models did well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache

from koderz_core.analysis.model_selection import ranked
from koderz_core.config import Settings
from koderz_core.errors import ModelError
from koderz_core.grading.problem_tests import Divide
from koderz_core.models.capabilities import capabilities_of
from koderz_core.models.catalogue import address_of, identity, resolve
from koderz_core.models.pricing import price
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.worst_case import WorstCases
from koderz_core.prompts import VERSIONS
from koderz_core.prompts.coder import MINIMAL
from koderz_core.protocols import Judge, Model
from koderz_core.records import Asker, Completion, Cost, Memory, Message, Query, Request, Sampling, Usage
from koderz_core.runner.calls.provider_limits import Lanes, Policy
from koderz_core.runner.dependencies import Parts, Recollection
from koderz_core.runner.live_text import LiveText
from koderz_core.runner.pause import Gate, Passage
from koderz_core.runner.recorder import Redactor
from koderz_core.store.measurements import SpecQuery, measurements, recalled
from koderz_core.store.results import Results
from koderz_core.store.store import Store
from koderz_core.strategies.reminders import ADVICE_TEMPERATURE
from koderz_core.strategies.selected import DIRECT
from koderz_core.workspace.memories import Memories


class Asking:
    """Shared by all benchmarks of a workspace: what they ask of one provider together has its limits."""

    def __init__(self, settings: Settings, results: Results, memories: Memories) -> None:
        """``results`` and ``memories``: what experiments are reminded of."""
        self._settings = settings
        self._recall = recollection(settings, results, memories)
        self._lanes = Lanes(cache(self._address), settings.limits, settings.patience)
        self._context_tokens = cache(lambda model: capabilities_of(model, settings).context_tokens)
        self.live = LiveText()

    def parts(self, models: Mapping[str, Model], judge: Judge, redact: Redactor, divide: Divide) -> Parts:
        """What a runner is given to ask these models."""
        return Parts(
            models=models,
            local=frozenset(name for name in models if resolve(name, self._settings).tier == "local"),
            judge=judge,
            worst_case=WorstCases(self._settings).of,
            price=self._price,
            redact=redact,
            divide=divide,
            clock=time.time,
            live=self.live,
            policy=Policy(self._settings.retries),
            lanes=self._lanes,
            context_tokens=self._context_tokens,
            recall=self._recall,
        )

    def ask(self, model: Model, prompt: str, max_tokens: int) -> Completion:
        """One question outside any experiment: a single attempt, as soon as the limits of its provider allow it."""
        request = Request((Message("user", prompt),), Sampling(max_tokens=max_tokens), seed=0)
        with self._lanes.of(model.id).entered(request, Passage(Gate(), "", "")) as entry:
            try:
                entry.answer = model.complete(request, lambda _text: None)
            except ModelError as error:
                entry.error = error
                raise
            return entry.answer

    def _price(self, name: str, usage: Usage, seconds: float) -> Cost:
        return price(resolve(name, self._settings), usage, seconds, self._settings)

    def _address(self, model: str) -> str:
        """What names a model's lane: the address it is asked at, its own id if it works here without a server."""
        provider, _, name = model.partition("/")
        url = PROVIDERS[provider].away(name) or address_of(provider, self._settings)
        return model if url is None else identity(url)


def recollection(settings: Settings, results: Results, memories: Memories) -> Recollection:
    """Answers ``Query("spec", {"prompt": version})``, ``lesson`` with ``{"error": class}``, ``solved``, ``statistics``.

    A whole spec fits the same problem of the same dataset, the same first spec model, the same version of its prompt,
    the same words of that prompt and the temperature that specs are asked for at: any other would be another treatment
    under the same name. A lesson fits any problem but those that it was learnt from, and their twins, and so does an
    example. Statistics are as ``recommended`` has them. Raises InfrastructureError.
    """

    def recall(query: Query, asker: Asker) -> Sequence[Memory]:
        if query.kind == "statistics":
            return recommended(query, asker, settings, results.store)
        if query.kind != "spec":
            return memories.recall(query, asker)
        sought = SpecQuery(asker, query.tags.get("prompt", MINIMAL), VERSIONS["spec"], ADVICE_TEMPERATURE)
        return recalled(results.store, sought, query.limit)

    return recall


def recommended(query: Query, asker: Asker, settings: Settings, store: Store) -> Sequence[Memory]:
    """The members of a role, the preferred one first, for ``Query("statistics", {"policy": ..., "role": ...})``.

    Known is what came of asking them directly on other problems, in other benchmarks. Raises StoreError.
    """
    models, role = asker.models.get(query.tags["role"], ()), query.tags["role"]
    contexts = {model: capabilities_of(model, settings).context_tokens for model in models}
    found = measurements(store, DIRECT, role, [asker.problem], asker.experiment)
    rows = ranked(query.tags["policy"], models, found, contexts)
    return [
        Memory(row.reason, row.model, {"member": str(models.index(row.model)), "score": str(row.score)}) for row in rows
    ]
