"""The frozen records that the parts of koderz hand to each other: problems, messages, verdicts, plans."""

from koderz_core.records.completions import (
    Completion,
    Cost,
    Finish,
    Message,
    MessageRef,
    Request,
    Sampling,
    Tier,
    Usage,
)
from koderz_core.records.plans import (
    Configuration,
    Control,
    Experiment,
    Outcome,
    Plan,
    Scalar,
    ScoreKind,
    StopReason,
    fingerprint,
)
from koderz_core.records.problems import Dataset, DatasetOrigin, Problem, PublicProblem, TestSet
from koderz_core.records.steps import Ask, Memory, MemoryRef, Observed, Query, Remaining
from koderz_core.records.verdicts import ErrorClass, Extracted, TestFailure, Verdict

__all__ = [
    "Ask",
    "Completion",
    "Configuration",
    "Control",
    "Cost",
    "Dataset",
    "DatasetOrigin",
    "ErrorClass",
    "Experiment",
    "Extracted",
    "Finish",
    "Memory",
    "MemoryRef",
    "Message",
    "MessageRef",
    "Observed",
    "Outcome",
    "Plan",
    "Problem",
    "PublicProblem",
    "Query",
    "Remaining",
    "Request",
    "Sampling",
    "Scalar",
    "ScoreKind",
    "StopReason",
    "TestFailure",
    "TestSet",
    "Tier",
    "Usage",
    "Verdict",
    "fingerprint",
]
