"""A stranger's journal may plan more experiments than anybody can count: it is refused, and the others are read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any


def test_a_journal_that_plans_too_much_is_a_fault_and_costs_no_other_journal_anything(
    koderz: Any, tmp_path: Path
) -> None:
    koderz("benchmark", "--problems", "0:1", "--repeats", "2", "--coder", "scripted/strong")
    (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
    enormous = journal.read_bytes().replace(b'"repeats":2', b'"repeats":99999999999')
    assert enormous != journal.read_bytes()
    journal.with_name("bench_000000000000.jsonl").write_bytes(enormous)
    began = time.monotonic()
    said = koderz("results", "--json")
    assert (said.code, len(said.json), "99,999,999,999 experiments" in said.err) == (3, 1, True)
    assert time.monotonic() - began < 30
