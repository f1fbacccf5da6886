"""Checks whether results show understanding: the variants that were run, recall of solutions, and signs in programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial

from koderz_core.analysis.integrity import Evidence, Scanned, Trust, integrity
from koderz_core.analysis.pairs import Key
from koderz_core.analysis.patch_scan import signs_in_patch
from koderz_core.analysis.program_scan import MEANINGS, Sign, Target, signs_in, target_of
from koderz_core.analysis.recall import FEWEST_RUNS, Recall, Runs, likeness, recall, runs_of
from koderz_core.datasets.selection import chosen_by
from koderz_core.datasets.variants import BASES, variant_named
from koderz_core.errors import KoderzError
from koderz_core.grading.gates import ALL_TESTS
from koderz_core.plan.command_line import command_of
from koderz_core.plan.order import Order, Wanted
from koderz_core.records import VARIANTS, Dataset, Problem, Variant
from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Trial
from koderz_core.store.results import Results
from koderz_core.workspace.datasets import Datasets

__all__ = ["Trust", "TrustChecks"]

MOST_CHARS = 20_000_000
"""Of all programs that are scanned; further ones are counted as not scanned."""
MOST_PEERS = 20  # benchmarks of other models, the newest
Code = str
"""SHA-256 (hex) of a program."""
Scan = Callable[[str], tuple[Sign, ...] | None]
_NO_TARGET: Scan = partial(signs_in, target=Target())


@dataclass(frozen=True)
class TrustChecks:
    """Checks configurations by the current content of the store. Every method may raise StoreError."""

    results: Results
    datasets: Datasets

    def check(self, rows: Sequence[SummaryRow], *, read: bool) -> Trust:
        """Return what the results on variants show; with ``read``, also what the recorded programs show.

        The results of a configuration on a variant may come from any benchmark. Programs are never executed.
        """
        wanted = [row for row in rows if row.dataset == row.origin.base]
        gathered = _Gathered(self, wanted, read=read)
        evidence = [gathered.evidence(row) for row in wanted]
        missing = [name for name in VARIANTS if any(name not in entry.variants for entry in evidence)]
        names = sorted({row.dataset for row in wanted})
        return Trust(
            found=integrity(evidence),
            read=read,
            dataset=", ".join(names),
            can_vary=all(name in BASES for name in names),
            dated=read and any(map(gathered.is_dated, names)),
            commands=dict(self._commands(wanted, missing)) if read else {},
            notes=tuple(gathered.notes()),
        )

    def _commands(self, rows: Sequence[SummaryRow], missing: Sequence[Variant]) -> Iterator[tuple[Variant, str]]:
        """The command that runs each missing variant with these configurations on their problems."""
        if len({row.dataset_sha256 for row in rows}) != 1 or rows[0].dataset not in BASES:
            return
        unique = {row.configuration: row for row in rows}.values()
        grounds = self.results.grounds(sorted({row.benchmark for row in rows}))
        ids = {problem for ground in grounds for problem in ground.problems}
        for variant in missing:
            # No other gate is certain to contain the false test.
            fitting = [row for row in unique if variant != "impossible" or row.gate == ALL_TESTS]
            configurations = [
                Wanted(row.strategy, row.models, row.parameters, row.gate, row.feedback) for row in fitting
            ]
            with suppress(KoderzError):
                name = variant_named(rows[0].dataset, variant)
                dataset = self.datasets.load(name)
                problems = chosen_by(dataset, ids & {problem.id for problem in dataset.problems})
                if configurations:
                    yield variant, command_of(Order(configurations, problems), name)


class _Gathered:
    """The trials and programs behind the evidence, each read once."""

    def __init__(self, checks: TrustChecks, rows: Sequence[SummaryRow], *, read: bool) -> None:
        self._results, self._datasets, self._read = checks.results, checks.datasets, read
        self._unknown: dict[str, None] = {}
        self._loaded: dict[str, Dataset | None] = {}
        self._problems: dict[str, Mapping[str, Problem]] = {}
        self._scans: dict[tuple[str, str], Scan] = {}
        bases = {row.dataset for row in rows}
        benchmarks = checks.results.benchmarks()
        self._varied = [
            benchmark for benchmark in benchmarks if benchmark.dataset not in bases and benchmark.origin.base in bases
        ]
        own, versions = {row.benchmark for row in rows}, {row.dataset_sha256 for row in rows}
        same = [benchmark.id for benchmark in benchmarks if benchmark.dataset_sha256 in versions]
        peers = [name for name in same if name not in own][: MOST_PEERS if read else 0]
        self._trials: defaultdict[Key, list[Trial]] = defaultdict(list)
        if read or self._varied:
            needed = [*own, *peers, *(row.id for row in self._varied)]
            for trial in checks.results.trials(needed, tries=read):
                self._trials[trial.key].append(trial)
        summaries = checks.results.summaries([*own, *peers]) if read else []
        self._models = {row.key: _models(row) for row in summaries}

    def evidence(self, row: SummaryRow) -> Evidence:
        only = None if row.only is None else frozenset(row.only)
        own = [trial for trial in self._trials[row.key] if only is None or trial.problem in only]
        variants = {
            name: trials
            for name in VARIANTS
            if (trials := list(self._on(variant_of(row.dataset, name), row.configuration)))
        }
        if not self._read:
            return Evidence(row.key, own, variants)
        return Evidence(row.key, own, variants, self._recall(row, own, variants), self._scanned(row, own, variants))

    def notes(self) -> Iterator[str]:
        """What could not be checked, after all evidence was made."""
        if self._unknown:
            yield (
                "koderz could not compare the programs with the solutions and tests of some datasets, because this "
                "machine lacks the dataset versions that the benchmarks used. Datasets: "
                f"{'; '.join(self._unknown)}."
            )

    def is_dated(self, name: str) -> bool:
        """Whether some problems of a dataset have a date."""
        dataset = self._dataset(name)
        return dataset is not None and any(problem.facts.date for problem in dataset.problems)

    def _on(self, dataset: str, configuration: str) -> Iterator[Trial]:
        """The trials of a configuration on a variant, in any benchmark."""
        for row in self._varied:
            if row.dataset == dataset:
                yield from self._trials[row.id, configuration]

    @cached_property
    def _texts(self) -> Mapping[Code, str]:
        codes = {code for trials in self._trials.values() for trial in trials for code in _codes(trial)}
        return self._results.texts(codes)

    def _recall(
        self, row: SummaryRow, own: Sequence[Trial], variants: Mapping[Variant, Sequence[Trial]]
    ) -> Recall | None:
        dataset = self._dataset(row.dataset, row.dataset_sha256)
        if dataset is None:
            return None
        prompts = {problem.id: problem.public.prompt for problem in dataset.problems}
        programs = self._programs(own)
        solutions = {
            problem.id: runs_of(problem.canonical_solution, problem.public.prompt)
            for problem in dataset.problems
            if problem.id in programs
        }
        models = self._models.get(row.key, frozenset())
        peers: defaultdict[str, list[Runs]] = defaultdict(list)
        for key in self._first_of_models(models):
            for problem, program in self._programs(self._trials[key], solved=True).items():
                if problem in prompts:
                    peers[problem].append(runs_of(program, prompts[problem]))
        return recall(
            solutions,
            {name: runs_of(program, prompts[name]) for name, program in programs.items() if name in prompts},
            {trial.problem for trial in own if trial.solved},
            self._renamed(row.dataset, variants.get("renamed", ())),
            peers,
        )

    def _first_of_models(self, own: frozenset[str]) -> Iterator[Key]:
        """A configuration for each set of models without the own ones."""
        seen: set[frozenset[str]] = {frozenset()}
        for key, models in self._models.items():
            if not models & own and models not in seen:
                seen.add(models)
                yield key

    def _renamed(self, base: str, trials: Sequence[Trial]) -> dict[str, float]:
        """The likeness of each program for a renamed problem to the renamed solution."""
        name = variant_of(base, "renamed")
        hashes = [row.dataset_sha256 for row in self._varied if row.dataset == name]
        dataset = self._dataset(name, hashes[0]) if trials and hashes else None
        found = {}
        programs = self._programs(trials)
        for problem in dataset.problems if dataset else ():
            solution = runs_of(problem.canonical_solution, problem.public.prompt)
            if problem.id in programs and len(solution) >= FEWEST_RUNS:
                found[problem.id] = likeness(runs_of(programs[problem.id], problem.public.prompt), solution)
        return found

    def _programs(self, trials: Sequence[Trial], *, solved: bool = False) -> dict[str, str]:
        """The returned program of the first trial of each problem that has one."""
        found: dict[str, str] = {}
        for trial in trials:
            text = self._texts.get(trial.code or "")
            if text is not None and (trial.solved or not solved):
                found.setdefault(trial.problem, text)
        return found

    def _scanned(self, row: SummaryRow, own: Sequence[Trial], variants: Mapping[Variant, Sequence[Trial]]) -> Scanned:
        """The signs in all programs that were returned or tested, each read once for a problem."""
        unread, chars = 0, 0
        seen: dict[tuple[Code, str, str], tuple[Sign, ...] | None] = {}
        signs: defaultdict[Sign, dict[str, None]] = defaultdict(dict)
        named = [(row.dataset, own), *((variant_of(row.dataset, name), trials) for name, trials in variants.items())]
        for dataset, trial in ((name, trial) for name, trials in named for trial in trials):
            for code in _codes(trial):
                if (key := (code, dataset, trial.problem)) not in seen:
                    program = self._texts.get(code, "")
                    chars += len(program)
                    scan = self._scan(dataset, trial.problem)
                    seen[key] = scan(program) if chars <= MOST_CHARS else None
                    unread += seen[key] is None
                for sign in seen[key] or ():
                    signs[sign][trial.experiment] = None
        found = {sign: tuple(signs[sign]) for sign in MEANINGS if sign in signs}
        return Scanned(len(seen) - unread, unread, found)

    def _scan(self, name: str, problem: str) -> Scan:
        """The scan of programs for a problem of a dataset."""
        if name not in self._problems:
            dataset = self._dataset(name)
            self._problems[name] = {each.id: each for each in dataset.problems} if dataset else {}
        if (name, problem) not in self._scans:
            known = self._problems[name].get(problem)
            self._scans[name, problem] = _scan_of(known) if known else _NO_TARGET
        return self._scans[name, problem]

    def _dataset(self, name: str, sha256: str = "") -> Dataset | None:
        """The dataset; None, which ``notes`` will say, if it is not here or another version of it is."""
        if name not in self._loaded:
            self._loaded[name] = None
            with suppress(KoderzError):
                self._loaded[name] = self._datasets.load(name)
        dataset = self._loaded[name]
        if dataset is None or (sha256 and dataset.origin.sha256 != sha256):
            self._unknown[name] = None
            return None
        return dataset


def variant_of(dataset: str, variant: Variant) -> str:
    """The name of a variant, also for datasets without variants."""
    return variant_named(dataset, variant) if dataset in BASES else ""


def _scan_of(problem: Problem) -> Scan:
    """The scan of programs for a problem."""
    return (
        partial(signs_in_patch, problem=problem) if problem.repository else partial(signs_in, target=target_of(problem))
    )


def _models(row: SummaryRow) -> frozenset[str]:
    return frozenset(model for members in row.models.values() for model in members)


def _codes(trial: Trial) -> Iterator[Code]:
    """The programs of a trial, the returned one first, each once."""
    tried = (attempt.code for attempt in trial.tries)
    yield from dict.fromkeys(code for code in (trial.code, *tried) if code)
