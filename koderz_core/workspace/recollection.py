"""What the experiments of a workspace are reminded of: specs that were written before."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.prompts import VERSIONS
from koderz_core.records import Asker, Memory, Query
from koderz_core.runner.parts import Recollection
from koderz_core.store.results import Results
from koderz_core.store.specs import Sought, recalled


def recollection(results: Results) -> Recollection:
    """Answers ``Query("spec", {"prompt": version})``; of other kinds nothing is remembered. Raises StoreError.

    A spec fits the same problem of the same dataset, the same first spec model, the same version of its prompt and the
    same words of that prompt: any other would be another treatment under the same name.
    """

    def recall(query: Query, asker: Asker) -> Sequence[Memory]:
        if query.kind != "spec":
            return ()
        sought = Sought(asker, query.tags.get("prompt", "minimal"), VERSIONS["spec"])
        return recalled(results.store, sought, query.limit)

    return recall
