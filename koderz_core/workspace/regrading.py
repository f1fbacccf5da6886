"""Regrading: the programs that the experiments of a benchmark returned are tested again, on this machine or others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from koderz_core.conditions import policy_of
from koderz_core.config import Settings
from koderz_core.errors import JournalError, UsageError
from koderz_core.events import TextStored
from koderz_core.events.tally import Tally, tally
from koderz_core.journal import read_all
from koderz_core.plan.clone import dataset_of
from koderz_core.records import Configuration, Extracted
from koderz_core.verification.journals import Difference, Verified
from koderz_core.workspace.grading import Graded, Grading, Sample, Watch, iter_only

PROGRAMS = "programs graded again"
"""What ``Verified`` calls them."""


@dataclass(frozen=True, slots=True)
class Regrading:
    """Compares recorded outcomes with new verdicts."""

    settings: Settings
    grading: Grading

    def regrade(self, benchmark: str, workers: int, watch: Watch = iter_only, engine: str = "local") -> Verified:
        """Grade the program of each ended experiment of a benchmark (by id) on all tests that decided its outcome.

        ``workers``: programs at a time; ``engine``: where they run, as for benchmarks. Raises JournalError, DataError
        if the dataset is missing or differs from the recorded one, SandboxError.
        """
        entries = list(read_all(self.settings.journals_dir / f"{benchmark}.jsonl"))
        totals = tally(entries)
        if not totals.opened:
            raise JournalError(f"The journal of {benchmark} contains no plan, so its programs cannot be graded.")
        texts = {entry.event.sha256: entry.event.text for entry in entries if isinstance(entry.event, TextStored)}
        samples = self._samples(totals, texts)
        if not samples:
            raise UsageError(f"No experiment of {benchmark} has returned a program that could be graded again.")
        policy = policy_of(totals.plan, Configuration("direct", {}))  # every gate leads to the same tests in the end
        graded = self.grading.grade_samples(samples, policy, workers, watch, engine)
        return Verified(benchmark, {PROGRAMS: len(graded)}, tuple(_differences(graded)), tuple(_remarks(graded)))

    def _samples(self, totals: Tally, texts: Mapping[str, str]) -> list[Sample]:
        """The programs with a recorded outcome. The outcome is the sample's own field ``outcome``."""
        problems = {problem.id: problem for problem in dataset_of(totals.plan, self.settings).problems}
        found = [
            (name, experiment.experiment.problem, experiment.finished)
            for name, experiment in totals.experiments.items()
            if experiment.outcome in ("solved", "unsolved")
        ]
        return [
            Sample(
                line, problems[problem], Extracted(texts[end.code], "solution"), {"id": name, "outcome": end.outcome}
            )
            for line, (name, problem, end) in enumerate(found, 1)
            if end and end.code and end.code in texts
        ]


def _differences(graded: Sequence[Graded]) -> Iterator[Difference]:
    """The experiments whose outcome differs from that of the new verdict."""
    for program in graded:
        row, verdict = program.sample.row, program.verdict
        if verdict and (row["outcome"] == "solved") != verdict.passed:
            now = "solved" if verdict.passed else f"unsolved ({verdict.error or 'assertion'}: {verdict.message})"
            yield Difference("the outcome", str(row["id"]), str(row["outcome"]), now)


def _remarks(graded: Sequence[Graded]) -> Iterator[str]:
    """What could not be graded, and what may explain differences."""
    if troubles := [program for program in graded if program.verdict is None]:
        yield f"programs without a verdict: {len(troubles)}; the first: {troubles[0].trouble}"
    if any(program.verdict and program.verdict.error == "timeout" for program in graded):
        yield "some programs reached their time limit, and whether they reach it depends on the speed of the machine"
