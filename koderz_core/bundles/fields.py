"""Which texts of the events may leave the machine: those named here. A field that nobody has thought of may not."""

from __future__ import annotations

from collections.abc import Mapping

from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    ConsensusReached,
    Considered,
    ControlObeyed,
    ExperimentFinished,
    MemoryRecalled,
    ProgramProbed,
    SpecWritten,
    TextStored,
    TurnSpoken,
)
from koderz_core.records import (
    Configuration,
    Cost,
    DatasetOrigin,
    Experiment,
    MemoryRef,
    MessageRef,
    Observed,
    Plan,
    Query,
    Usage,
    Verdict,
)
from koderz_core.records.forecasts import Forecast
from koderz_core.records.selections import Ranked, Selection

PLAIN: Mapping[type, frozenset[str]] = {
    BenchmarkOpened: frozenset(
        {
            "koderz_version",
            "benchmark",
            "prompt_versions",
            "price_version",
            "isolation",
            "forked_from",
            "self_test",
            "runtime",
        }
    ),
    Configuration: frozenset({"strategy", "gate", "feedback"}),
    DatasetOrigin: frozenset({"sha256"}),
    Experiment: frozenset({"id", "configuration"}),
    ControlObeyed: frozenset({"what", "target"}),
    Forecast: frozenset({"unknown"}),
    TextStored: frozenset({"sha256"}),
    CallStarted: frozenset({"role", "request"}),
    MessageRef: frozenset({"role", "text"}),
    CallFinished: frozenset({"text", "finish"}),
    CodeTested: frozenset({"request", "code"}),
    Verdict: frozenset({"marks", "error", "isolation"}),
    ProgramProbed: frozenset({"request", "code"}),
    Observed: frozenset({"error"}),
    MemoryRecalled: frozenset({"request"}),
    Query: frozenset({"kind"}),
    MemoryRef: frozenset({"text", "origin"}),
    SpecWritten: frozenset({"prompt", "origin", "finish"}),
    CheckpointReviewed: frozenset({"why", "passed_on"}),
    ConsensusReached: frozenset({"by"}),
    Considered: frozenset({"excluded"}),
    CandidateScored: frozenset({"code"}),
    ExperimentFinished: frozenset({"outcome", "reason", "score_kind", "code", "failure"}),
    BenchmarkClosed: frozenset({"reason"}),
}
"""Words of koderz, versions, hashes and ids: they stay as they are, but for ids and hashes that are others now."""

WORDED: Mapping[type, frozenset[str]] = {
    BenchmarkOpened: frozenset({"tiers", "energy"}),
    Plan: frozenset({"problems", "name", "conditions", "outside"}),
    Configuration: frozenset({"models", "parameters"}),
    DatasetOrigin: frozenset({"name", "licence"}),
    Selection: frozenset({"strategy", "role", "policy", "chosen", "results_of"}),
    Ranked: frozenset({"model", "reason"}),
    Experiment: frozenset({"problem"}),
    Forecast: frozenset({"unpriced"}),
    CallStarted: frozenset({"model"}),
    CodeTested: frozenset({"how"}),
    Cost: frozenset({"source"}),
    Usage: frozenset({"service_tier"}),
    TurnSpoken: frozenset({"speaker"}),
}
"""Words of a person or a provider without which a figure means nothing: masked wherever anything is."""
