"""What experiments are reminded of: specs of before, lessons and examples from other problems, who did well."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.config import Settings
from koderz_core.prompts import VERSIONS
from koderz_core.prompts.spec import MINIMAL
from koderz_core.records import Asker, Memory, Query
from koderz_core.runner.parts import Recollection
from koderz_core.store.results import Results
from koderz_core.store.specs import Sought, recalled
from koderz_core.strategies.specification import ADVICE_TEMPERATURE
from koderz_core.workspace.memories import Memories
from koderz_core.workspace.selecting import recommended


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
        sought = Sought(asker, query.tags.get("prompt", MINIMAL), VERSIONS["spec"], ADVICE_TEMPERATURE)
        return recalled(results.store, sought, query.limit)

    return recall
