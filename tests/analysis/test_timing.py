"""Where time went: every second once, and what is left is told as such."""

from __future__ import annotations

from koderz_core.analysis.timing import timings
from koderz_core.records.rows import Span


def test_every_phase_has_its_seconds_and_the_rest_is_the_journal() -> None:
    whole = Span("e1", "a", None, 100.0, 10.0)
    parts = [Span("e1", "a", "calls", 100.0, 4.0), Span("e1", "a", "waiting", 104.0, 1.0)]
    parts += [Span("e1", "a", "tests", 105.0, 2.0), Span("e1", "a", "scoring", 108.0, 1.5)]
    (found,) = timings([whole, *parts])
    assert (found.experiments, found.seconds) == (1, 10.0)
    assert found.phases == {"waiting": 1.0, "calls": 4.0, "tests": 2.0, "scoring": 1.5, "journal": 1.5}


def test_calls_at_the_same_time_count_once_but_experiments_at_the_same_time_each() -> None:
    spans = [Span(name, "a", None, 0.0, 5.0) for name in ("e1", "e2")]
    spans += [Span(name, "a", "calls", at, 3.0) for name in ("e1", "e2") for at in (0.0, 1.0)]
    (found,) = timings(spans)
    assert found.phases["calls"] == 8.0
    assert found.phases["journal"] == 2.0


def test_clocks_that_differ_make_no_negative_rest() -> None:
    (found,) = timings([Span("e1", "a", None, 0.0, 1.0), Span("e1", "a", "calls", 0.0, 1.1)])
    assert found.phases["journal"] == 0.0
