"""What the experiments of a workspace are reminded of: specs of before, and lessons from other problems."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.prompts import VERSIONS
from koderz_core.prompts.spec import MINIMAL
from koderz_core.records import Asker, Memory, Query
from koderz_core.runner.parts import Recollection
from koderz_core.store.results import Results
from koderz_core.store.specs import Sought, recalled
from koderz_core.strategies.specification import ADVICE_TEMPERATURE
from koderz_core.workspace.memories import Memories


def recollection(results: Results, memories: Memories) -> Recollection:
    """Answers ``Query("spec", {"prompt": version})`` and ``Query("lesson", {"error": class})``; to others nothing.

    A whole spec fits the same problem of the same dataset, the same first spec model, the same version of its prompt,
    the same words of that prompt and the temperature that specs are asked for at: any other would be another treatment
    under the same name. A lesson fits any problem but those that it was learnt from, and their twins. Raises
    InfrastructureError.
    """

    def recall(query: Query, asker: Asker) -> Sequence[Memory]:
        if query.kind == "lesson":
            return memories.recall(query, asker)
        if query.kind != "spec":
            return ()
        sought = Sought(asker, query.tags.get("prompt", MINIMAL), VERSIONS["spec"], ADVICE_TEMPERATURE)
        return recalled(results.store, sought, query.limit)

    return recall
