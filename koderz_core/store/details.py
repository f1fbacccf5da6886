"""Everything about one experiment or a few, from an open store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from koderz_core.records.rows import ExperimentDetails
from koderz_core.store.benchmarks import Writers
from koderz_core.store.queries import Reader
from koderz_core.store.timeline import Told, steps

Naming = Callable[[ExperimentDetails], Collection[str]]
"""An experiment to the SHA-256 of texts that are wanted of it."""


@dataclass(frozen=True, slots=True)
class Several:
    """Several experiments; ``texts``: by SHA-256."""

    details: tuple[ExperimentDetails, ...]
    texts: Mapping[str, str]


def several_of(reader: Reader, writers: Writers, experiments: Iterable[str], named: Naming) -> Several:
    """Of the experiments of these ids, with the texts that are ``named`` of them. Raises UnknownNameError."""
    details = tuple(details_of(reader, writers, experiment) for experiment in experiments)
    return Several(details, reader.texts({text for one in details for text in named(one)}))


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
