"""Imports of results from other tools: what a file contains, grading, and the new benchmarks."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from koderz_core import __version__
from koderz_core.conditions import TIME_LIMIT, of_problems, time_limit
from koderz_core.config import Settings
from koderz_core.errors import DataError, UsageError
from koderz_core.events import BenchmarkOpened, encode
from koderz_core.files import replacement
from koderz_core.grading.grader import Graded, Sample, TestKind, as_program
from koderz_core.imports.journal import Score, Source, entries, header, plans
from koderz_core.imports.problems import recognise
from koderz_core.imports.records import Result, ResultFile
from koderz_core.imports.results import read_results
from koderz_core.imports.tables import FIELDS, parse_mapping
from koderz_core.journal import read
from koderz_core.models.catalogue import tier_of_name
from koderz_core.records import Cost, Dataset, DatasetOrigin, Plan, Problem, Tier
from koderz_core.records.plans import Imported
from koderz_core.workspace.datasets import Datasets
from koderz_core.workspace.grading import Grading, Watch, iter_only

__all__ = ["FIELDS", "Import", "ImportOrder", "Imports", "parse_mapping"]

_GUESSED = {"HumanEval/": ("humaneval+", "humaneval"), "Mbpp/": ("mbpp+",)}
"""The beginning of a problem's id, with the datasets that may be meant, the preferred one first."""


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """A file to import. ``dataset``: the dataset of its problems, "" for the one that the file suggests.

    ``model``: the model of lines that name none. ``name``: of the benchmark, "" for the name of the file.
    ``tiers``: by model, for models whose tier is not the one that their name suggests. ``prices``: US dollars per
    million input and output tokens, by model, for results with tokens and without a cost. ``mapping``: the columns of a
    table, as in ``imports.tables``. ``as_stated``: take the results that the file states, and grade no program.
    ``trust_ids``: the ids name the problems, even if the file has other prompts. ``metric``: the metric or
    scorer whose results count, for files with several.
    """

    file: Path
    dataset: str = ""
    model: str = ""
    name: str = ""
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    mapping: Mapping[str, str] | None = None
    as_stated: bool = False
    trust_ids: bool = False
    metric: str = ""


@dataclass(frozen=True, slots=True)
class ModelInFile:
    """A model of a file: its problems, the samples of each, and all its results."""

    model: str
    tier: Tier
    problems: int
    repeats: int
    results: int


@dataclass(frozen=True, slots=True)
class Import:
    """A file that was read, before anything is stored. ``parts``: the plans to come, each with its results.

    ``dataset``: with the problems' tests; None if koderz does not have the problems, and then cannot grade.
    """

    file: ResultFile
    source: Source
    dataset: Dataset | None
    parts: tuple[tuple[Plan, tuple[Result, ...]], ...]

    @property
    def to_grade(self) -> int:
        """The number of programs that koderz will grade."""
        return sum(not result.error for result in self.file.results) if self.source.imported.graded else 0

    def models(self) -> Iterator[ModelInFile]:
        """What the file has of each model."""
        for plan, results in self.parts:
            for model in plan.models():
                problems = [result.problem for result in results if result.model == model]
                tier = self.source.tiers[model]
                yield ModelInFile(model, tier, len(set(problems)), plan.repeats, len(problems))


class Imports:
    """Nothing is stored before ``store``, which stores whole benchmarks or none."""

    def __init__(self, settings: Settings, datasets: Datasets, grading: Callable[[], Grading]) -> None:
        """``grading`` opens the sandbox, for files with programs."""
        self._settings, self._datasets, self._grading = settings, datasets, grading

    def read(self, order: ImportOrder) -> Import:
        """Read a file and recognise its problems. Raises DataError, UnknownNameError, UsageError."""
        file = _priced(read_results(order.file, order.model, order.mapping, order.metric), order.prices)
        gradable = _gradable(order, file)
        dataset = self._dataset(order, file, needed=not file.states_results)
        graded = gradable and dataset is not None
        if dataset:
            results = recognise(order.file, file.results, dataset, trust_ids=order.trust_ids)
            file = replace(file, results=results)
        imported = Imported(file.path.name, hashlib.sha256(file.content).hexdigest(), file.format, graded)
        models = dict.fromkeys(result.model for result in file.results)
        if unknown := [model for model in (*order.tiers, *order.prices) if model not in models]:
            known = ", ".join(list(models)[:10])
            raise UsageError(
                f"{order.file} contains no results of the model {unknown[0]!r}. Models in this file: {known}."
            )
        source = Source(
            imported,
            dataset.origin if dataset else _unknown_dataset(order.dataset or file.results[0].dataset),
            order.name or file.path.name.partition(".jsonl")[0].removesuffix(".eval"),
            {TIME_LIMIT: time_limit(self._settings), **of_problems(dataset.problems)} if graded and dataset else {},
            {model: order.tiers.get(model) or tier_of_name(model) for model in models},
        )
        return Import(file, source, dataset, tuple(plans(file.results, source)))

    def store(self, made: Import, workers: int, watch: Watch = iter_only) -> list[str]:
        """Grade the programs and write the benchmarks; return their ids. A benchmark that is stored stays as it is.

        Raises DataError if another benchmark has the name, SandboxError.
        """
        at = time.time()
        waiting = [(plan, results) for plan, results in made.parts if not self._is_stored(plan, made.source.imported)]
        scores, isolation = self._scores(made, workers, watch) if waiting and made.to_grade else ({}, "")
        written: list[Path] = []
        try:
            for plan, results in waiting:
                opened = header(plan, made.source, __version__, isolation)
                path = self._path(plan)
                path.parent.mkdir(parents=True, exist_ok=True)
                with replacement(path, private=False) as file:
                    file.writelines(map(encode, entries(opened, results, scores, at)))
                written.append(path)
        except BaseException as error:
            for path in written:
                path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise DataError(
                    f"The import could not be written to {self._settings.journals_dir}: {error}."
                ) from error
            raise
        return [plan.id for plan, _ in made.parts]

    def _scores(self, made: Import, workers: int, watch: Watch) -> tuple[dict[int, Score], str]:
        """The score of each line, and the isolation of the sandbox."""
        assert made.dataset is not None, "an import of programs without a dataset is refused"
        grading = self._grading()
        isolation = grading.sandbox.self_test().isolation
        problems = {problem.id: problem for problem in made.dataset.problems}
        samples = [_sample(result, problems[result.problem]) for result in made.file.results if not result.error]
        kind: TestKind = "plus" if all(sample.problem.plus for sample in samples) else "base"
        graded = grading.grade_samples(samples, kind, workers, watch)
        return {each.sample.line: _score(each) for each in graded}, isolation

    def _dataset(self, order: ImportOrder, file: ResultFile, *, needed: bool) -> Dataset | None:
        """The dataset that the order names or the file suggests, None if koderz does not have it.

        ``needed``: koderz must grade the programs.
        """
        named = {order.dataset} if order.dataset else {result.dataset for result in file.results if result.dataset}
        if len(named) > 1:
            raise DataError(
                f"{order.file} has results of several datasets: {', '.join(sorted(named))}. Split the file by dataset."
            )
        name = next(iter(named), "")
        known = {each.lower(): each for each in self._datasets.names()}
        if name.lower() in known:
            return self._datasets.load(known[name.lower()])
        prompts = all(result.prompt for result in file.results)  # they show whether the ids suggest the right dataset
        if not order.dataset and (prompts or not name) and (suggested := self._suggested(file)):
            return suggested
        if name and (needed or (order.dataset and get_close_matches(name.lower(), known, 1))):
            return self._datasets.load(name)  # raises UnknownNameError, which names similar datasets
        if name:
            return None
        raise DataError(
            f"The dataset of {order.file} is unknown: the first problem in the file is "
            f"{file.results[0].problem!r}. Specify the dataset with --dataset."
        )

    def _suggested(self, file: ResultFile) -> Dataset | None:
        """The dataset that the ids of all problems suggest; of several, the preferred one that is present."""
        for beginning, names in _GUESSED.items():
            if all(result.problem.startswith(beginning) for result in file.results):
                there = [name for name in names if not self._datasets.how_to_get(name)]
                return self._datasets.load((there or names)[0])
        return None

    def _is_stored(self, plan: Plan, imported: Imported) -> bool:
        """Whether the same import is stored. Raises DataError if the name belongs to another benchmark."""
        path = self._path(plan)
        if not path.exists():
            return False
        first = next(iter(read(path, max_bytes=1 << 20).entries), None)
        event = first.event if first else None
        if isinstance(event, BenchmarkOpened) and event.imported == imported and event.plan == plan:
            return True
        raise DataError(
            f"There is another benchmark called {plan.name!r} ({plan.id}) on the same dataset. Give this import "
            "another name with --name."
        )

    def _path(self, plan: Plan) -> Path:
        return self._settings.journals_dir / f"{plan.id}.jsonl"


def _priced(file: ResultFile, prices: Mapping[str, tuple[float, float]]) -> ResultFile:
    """The results with the costs that follow from their tokens; stated costs stay."""
    return replace(file, results=tuple(_with_price(result, prices.get(result.model)) for result in file.results))


def _with_price(result: Result, price: tuple[float, float] | None) -> Result:
    tokens = result.usage.input_tokens, result.usage.output_tokens
    if price is None or result.cost.usd is not None or tokens[0] is None or tokens[1] is None:
        return result
    usd = (tokens[0] * price[0] + tokens[1] * price[1]) / 1e6
    source = f"per million tokens: input {price[0]:g} USD, output {price[1]:g} USD; given with --price"
    return replace(result, cost=Cost(usd, source))


def _gradable(order: ImportOrder, file: ResultFile) -> bool:
    """Whether koderz is to grade the programs. Raises DataError if it cannot, and the file does not state results."""
    if order.as_stated and not file.states_results:
        raise DataError(f"{order.file} does not state which results passed. Omit --as-stated.")
    if not file.has_programs and not file.states_results:
        bare = next(result.line for result in file.results if result.program is None and not result.error)
        unstated = next(result.line for result in file.results if result.passed is None and not result.error)
        raise DataError(
            f"{order.file}, line {bare}, has no program to grade, and line {unstated} does not state whether the "
            "program passed. Either each line needs a program, or each line needs a result."
        )
    return file.has_programs and not order.as_stated


def _unknown_dataset(name: str) -> DatasetOrigin:
    """A dataset of which koderz only knows the name, by which results of several files are compared."""
    digest = hashlib.sha256(f"imported dataset {name}".encode()).hexdigest()
    return DatasetOrigin(name, digest, "unknown")


def _sample(result: Result, problem: Problem) -> Sample:
    return Sample(result.line, problem, as_program(result.kind, str(result.program), problem), {})


def _score(graded: Graded) -> Score:
    return Score(graded.sample.program.code, graded.verdict, graded.failure, graded.trouble)
