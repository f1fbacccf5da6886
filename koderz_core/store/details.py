"""Everything about one experiment, from an open store."""

from __future__ import annotations

from koderz_core.records.rows import ExperimentDetails
from koderz_core.store.benchmarks import Writers
from koderz_core.store.queries import Reader
from koderz_core.store.timeline import Told, steps


def details_of(reader: Reader, writers: Writers, experiment: str) -> ExperimentDetails:
    """Of the experiment of that id. Raises UnknownNameError."""
    told = Told(
        writers.told(reader.experiment(experiment), reader.held()),
        reader.iterations(experiment),
        reader.calls(experiment),
        reader.notes(experiment),
    )
    scores = reader.scores(experiment)
    programs = {score.code: reader.text(score.code) for score in scores}
    return ExperimentDetails(told.experiment, told.iterations, told.calls, told.notes, scores, programs, steps(told))
