"""Failures that lessons are learnt from."""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.records.verdicts import TestFailure


@dataclass(frozen=True, slots=True)
class Lapse:
    """An iteration that failed. ``fixed_by``: the next program of the same experiment, if that one passed.

    ``failures``: the first test that failed, if any was seen. ``scripted``: a scripted model wrote it. Hostile texts.
    """

    experiment: str
    problem: str
    dataset: str
    error: str
    message: str
    failures: tuple[TestFailure, ...]
    code: str | None
    fixed_by: str | None
    scripted: bool
