"""Regrading: the programs that the experiments of a benchmark returned are tested again, on this machine or others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from koderz_core.bundles.privacy import LEFT_OUT
from koderz_core.conditions import policy_of
from koderz_core.config import Settings
from koderz_core.errors import KoderzError
from koderz_core.events import TextStored
from koderz_core.events.tally import tally
from koderz_core.grading.testsets import Outside, TestPolicy, deciding
from koderz_core.journal import read_all
from koderz_core.plan.clone import dataset_of
from koderz_core.protocols import Judge
from koderz_core.records import Problem, Verdict
from koderz_core.verification.journals import Difference, Verified
from koderz_core.workspace.grading import Grading, Watch, iter_only

PROGRAMS = "programs graded again"
"""What ``Verified`` calls them."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that an experiment returned, and whether it solved the problem by the journal.

    ``gate_was_seen``: whether the strategy ran gate tests.
    """

    experiment: str
    problem: Problem
    code: str
    policy: TestPolicy
    gate_was_seen: bool
    solved: bool


@dataclass(frozen=True, slots=True)
class Regraded:
    """The differences between recorded outcomes and new verdicts. ``unjudged``: why programs got no verdict."""

    found: Verified
    unjudged: tuple[str, ...] = ()


@dataclass(slots=True)
class _Recorded:
    programs: list[Program] = field(default_factory=list)
    missing: int = 0  # programs that the journal names but does not contain


@dataclass(frozen=True, slots=True)
class Regrading:
    """Compares recorded outcomes with new verdicts."""

    settings: Settings
    grading: Grading

    def regrade(self, benchmark: str, workers: int, watch: Watch = iter_only, engine: str = "local") -> Regraded:
        """Test the program of each ended experiment of a benchmark (by id) with the tests that decided its outcome.

        Each set of tests has its own time limit, as in the experiment. ``workers``: programs at a time; ``engine``:
        where they run, as for benchmarks. Raises JournalError, DataError if the dataset is missing or differs from the
        recorded one, UsageError for an unknown engine, SandboxError.
        """
        recorded = self._recorded(benchmark)
        verdicts = self._verdicts(recorded.programs, workers, watch, engine) if recorded.programs else []
        pairs = list(zip(recorded.programs, verdicts, strict=True))
        unjudged = tuple(f"{program.experiment}: {reason}" for program, reason in pairs if isinstance(reason, str))
        judged = [(program, verdict) for program, verdict in pairs if isinstance(verdict, Verdict)]
        differences = tuple(_differences(judged))
        remarks = tuple(_remarks(recorded.missing, differences))
        return Regraded(Verified(benchmark, {PROGRAMS: len(judged)}, differences, remarks), unjudged)

    def _recorded(self, benchmark: str) -> _Recorded:
        entries = list(read_all(self.settings.journals_dir / f"{benchmark}.jsonl"))
        totals = tally(entries)
        texts = {entry.event.sha256: entry.event.text for entry in entries if isinstance(entry.event, TextStored)}
        problems = {problem.id: problem for problem in dataset_of(totals.plan, self.settings).problems}
        configurations = {each.id: each for each in totals.plan.configurations}
        found = _Recorded()
        for name, experiment in totals.experiments.items():
            end, planned = experiment.finished, experiment.experiment
            if end is None or end.code is None or experiment.outcome not in ("solved", "unsolved"):
                continue
            code = texts.get(end.code, LEFT_OUT)
            if code.startswith(LEFT_OUT):
                found.missing += 1
                continue
            policy = policy_of(totals.plan, configurations[planned.configuration])
            solved, seen = end.outcome == "solved", bool(experiment.tested)
            found.programs.append(Program(name, problems[planned.problem], code, policy, seen, solved))
        return found

    def _verdicts(self, programs: Sequence[Program], workers: int, watch: Watch, engine: str) -> list[Verdict | str]:
        """The verdict on each program, or why there is none."""
        self.grading.require_gradable({program.problem.id: program.problem for program in programs}.values())
        with (
            self.grading.judging(workers, engine) as judge,
            ThreadPoolExecutor(workers, thread_name_prefix="grade") as pool,
            self.grading.ending_programs(),
        ):
            return list(watch(pool.map(partial(self._verdict, judge), programs), len(programs), "Programs"))

    def _verdict(self, judge: Judge, program: Program) -> Verdict | str:
        """The verdict on the first set of tests that the program fails, else on the last set."""
        try:
            tests = self.grading.divide(program.problem, program.policy)
            if isinstance(tests, Outside):
                return tests.reason
            first, *others = deciding(tests, gate_was_seen=program.gate_was_seen)
            verdict = judge.check(program.problem, program.code, first)
            for part in others:
                if verdict.passed:
                    verdict = judge.check(program.problem, program.code, part)
        except KoderzError as error:
            return str(error)
        return self.grading.redactor.verdict(verdict)


def _differences(judged: Sequence[tuple[Program, Verdict]]) -> Iterator[Difference]:
    """The experiments whose outcome differs from that of the new verdict."""
    for program, verdict in judged:
        if program.solved != verdict.passed:
            now = "solved" if verdict.passed else f"unsolved ({verdict.error or 'assertion'}: {verdict.message})"
            yield Difference("the outcome", program.experiment, "solved" if program.solved else "unsolved", now)


def _remarks(missing: int, differences: Sequence[Difference]) -> Iterator[str]:
    if missing:
        yield f"the journal does not contain {missing} of the programs, so these programs were not graded again"
    if any("(timeout: " in difference.follows for difference in differences):
        yield "some programs exceeded their time limit on this machine; on a faster machine, they may pass"
