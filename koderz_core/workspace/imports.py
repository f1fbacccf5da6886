"""Imports of results from other tools: what a file contains, grading, and the new benchmarks."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from koderz_core import __version__
from koderz_core.conditions import TIME_LIMIT, of_problems, time_limit
from koderz_core.config import Settings
from koderz_core.datasets.own_problems import is_own
from koderz_core.errors import DataError, UsageError
from koderz_core.events import BenchmarkOpened, encode
from koderz_core.files import replacement
from koderz_core.grading.grader import Graded, Sample, TestKind, as_program
from koderz_core.imports.fields import name as checked_name
from koderz_core.imports.journal import Score, Source, entries, header, plans
from koderz_core.imports.problems import recognise
from koderz_core.imports.records import Result, ResultFile, stem
from koderz_core.imports.results import read_results
from koderz_core.imports.tables import FIELDS, parse_mapping, parse_prices
from koderz_core.input_tables import Columns
from koderz_core.journal import read
from koderz_core.models.catalogue import tier_of_name
from koderz_core.records import OF_VARIANT, Cost, Dataset, DatasetOrigin, Plan, Problem, Tier
from koderz_core.records.plans import Imported
from koderz_core.workspace.datasets import Datasets
from koderz_core.workspace.grading import Grading, Watch, iter_only

__all__ = ["FIELDS", "Import", "ImportOrder", "Imports", "parse_mapping", "parse_prices"]

_GUESSED = {"HumanEval/": ("humaneval+", "humaneval"), "Mbpp/": ("mbpp+",)}
"""The beginning of a problem's id, with the datasets that may be meant, the preferred one first."""
_ALIASES = {"openai_humaneval": "humaneval", "openai/openai_humaneval": "humaneval"}
"""Names of datasets in the files of other tools, with those of koderz."""


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """A file to import. ``dataset``: the dataset of its problems; "": the dataset that the file suggests.

    ``model``: the model of lines that name no model. ``name``: the name of the benchmark; "": the name of the file.
    ``tiers``: the tiers of models whose name suggests another tier. ``prices``: US dollars per million input and output
    tokens, by model, for results with token counts but no cost. ``mapping``: the columns of a table, as in
    ``imports.tables``. ``as_stated``: use the results that the file states, and grade no programs. ``trust_ids``:
    recognise problems by their ids, even if the file has other prompts. ``metric``: the metric or scorer to import from
    a file with several.
    """

    file: Path
    dataset: str = ""
    model: str = ""
    name: str = ""
    tiers: Mapping[str, Tier] = field(default_factory=dict)
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    mapping: Columns | None = None
    as_stated: bool = False
    trust_ids: bool = False
    metric: str = ""

    def __post_init__(self) -> None:
        """Raise UsageError for a name that is not one line of printable characters."""
        for option in ("dataset", "model", "name"):
            if value := getattr(self, option):
                try:
                    object.__setattr__(self, option, checked_name({option: value}, option))
                except DataError as fault:
                    raise UsageError(f"--{option}: {fault}") from fault

    @property
    def command(self) -> str:
        """Return the command line of the same import, for a POSIX shell."""
        words = ["koderz", "import", self.file.name or "FILE"]
        for option in ("dataset", "model", "name", "metric"):
            words += [f"--{option}", value] if (value := getattr(self, option)) else []
        words += ["--map", self.mapping.text] if self.mapping else []
        words += [word for model, tier in self.tiers.items() for word in ("--tier", f"{model}={tier}")]
        prices = {model: f"{given:g},{returned:g}" for model, (given, returned) in self.prices.items()}
        words += [word for model, price in prices.items() for word in ("--price", f"{model}={price}")]
        words += [flag for flag, on in (("--as-stated", self.as_stated), ("--trust-ids", self.trust_ids)) if on]
        return shlex.join([*words, "--preview"])


@dataclass(frozen=True, slots=True)
class ModelInFile:
    """A model in the file: its number of problems, samples per problem, and results."""

    model: str
    tier: Tier
    problems: int
    repeats: int
    results: int


@dataclass(frozen=True, slots=True)
class Import:
    """A file that has been read but not stored. ``parts``: the plans of its benchmarks, each with its results.

    ``dataset``: None if koderz does not have the problems and therefore cannot grade. ``remarks``: information for a
    person who reads the preview. Hostile text.
    """

    file: ResultFile
    source: Source
    dataset: Dataset | None
    parts: tuple[tuple[Plan, tuple[Result, ...]], ...]
    remarks: tuple[str, ...] = ()

    @property
    def to_grade(self) -> int:
        """Return the number of programs that koderz will grade."""
        return sum(not result.error for result in self.file.results) if self.source.imported.graded else 0

    def models(self) -> Iterator[ModelInFile]:
        """Yield each model in the file."""
        for plan, results in self.parts:
            for model in plan.models():
                problems = [result.problem for result in results if result.model == model]
                tier = self.source.tiers[model]
                yield ModelInFile(model, tier, len(set(problems)), plan.repeats, len(problems))


class Imports:
    """Reads and stores result files. Only ``store`` writes: all benchmarks of an import, or none."""

    def __init__(self, settings: Settings, datasets: Datasets, grading: Callable[[], Grading]) -> None:
        """``grading``: opens the sandbox, only for files with programs."""
        self._settings, self._datasets, self._grading = settings, datasets, grading

    def read(self, *orders: ImportOrder) -> tuple[Import, ...]:
        """Read files and recognise their problems. Raises DataError, UnknownNameError, UsageError."""
        files = [read_results(order.file, order.model, order.mapping, order.metric) for order in orders]
        models = dict.fromkeys(result.model for file in files for result in file.results)
        if unknown := [model for order in orders for model in (*order.tiers, *order.prices) if model not in models]:
            known = ", ".join(list(models)[:10])
            raise UsageError(
                f"This import contains no results of the model {unknown[0]!r}. Models with results: {known}."
            )
        made = tuple(self._read(order, file) for order, file in zip(orders, files, strict=True))
        plans_ = [plan for each in made for plan, _ in each.parts]
        for place, plan in enumerate(plans_):
            if plan.id in {other.id for other in plans_[:place]}:
                raise UsageError(
                    f"Two of the files would become the same benchmark, {plan.name!r}. Rename one of the files, or "
                    "import the files one by one with --name."
                )
        for each in made:
            for plan, _ in each.parts:
                self._is_stored(plan, each.source.imported)
        return made

    def _read(self, order: ImportOrder, file: ResultFile) -> Import:
        file = _priced(file, order.prices)
        gradable = _gradable(order, file)
        name, dataset = self._dataset(order, file, needed=gradable and not file.states_results)
        graded = gradable and dataset is not None
        if dataset:
            results = recognise(order.file, file.results, dataset, trust_ids=order.trust_ids)
            file = replace(file, results=results)
        tiers = _tiers(order, file)
        read = hashlib.sha256(repr((file.results, sorted(tiers.items()))).encode()).hexdigest()[:16]
        sha256 = hashlib.sha256(file.content).hexdigest()
        source = Source(
            Imported(file.path.name, sha256, file.format, graded, read),
            dataset.origin if dataset else _unknown_dataset(name),
            order.name or stem(file.path),
            {TIME_LIMIT: time_limit(self._settings), **of_problems(dataset.problems, self._settings)}
            if graded and dataset
            else {},
            tiers,
        )
        parts = tuple(plans(file.results, source))
        return Import(file, source, dataset, parts, tuple(_remarks(order, file, parts, dataset if graded else None)))

    def is_stored(self, made: Import) -> bool:
        """Whether all benchmarks of the same import are already stored."""
        return all(self._is_stored(plan, made.source.imported) for plan, _ in made.parts)

    def store(self, imports: Sequence[Import], workers: int, watch: Watch = iter_only) -> list[str]:
        """Grade the programs, write all benchmarks, and return their ids. A stored benchmark does not change.

        Raises DataError if another benchmark has the same name, and SandboxError.
        """
        graded = [
            (made, self._scores(made, workers, watch)) for made in imports if made.to_grade and not self.is_stored(made)
        ]
        scores = {id(made): found for made, found in graded}
        written: list[Path] = []
        try:
            for made in imports:
                for plan, results in made.parts:
                    if not self._is_stored(plan, made.source.imported):
                        written.append(self._write(made, plan, results, scores.get(id(made), ({}, ""))))
        except BaseException as error:
            for path in written:
                path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise DataError(
                    f"The import could not be written to {self._settings.journals_dir}: {error}."
                ) from error
            raise
        return [plan.id for made in imports for plan, _ in made.parts]

    def _write(
        self, made: Import, plan: Plan, results: Sequence[Result], scored: tuple[Mapping[int, Score], str]
    ) -> Path:
        scores, isolation = scored
        path = self._path(plan)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacement(path, private=False) as file:
            opened = header(plan, made.source, __version__, isolation)
            file.writelines(map(encode, entries(opened, results, scores, time.time())))
        return path

    def _scores(self, made: Import, workers: int, watch: Watch) -> tuple[dict[int, Score], str]:
        """The score of each line, and the isolation of the sandbox."""
        assert made.dataset is not None, "an import of programs without a dataset is refused"
        grading = self._grading()
        isolation = grading.sandbox.self_test().isolation
        problems = {problem.id: problem for problem in made.dataset.problems}
        samples: dict[TestKind, list[Sample]] = {"plus": [], "base": []}
        for result in made.file.results:
            if not result.error:
                problem = problems[result.problem]
                samples["plus" if problem.plus else "base"].append(_sample(result, problem))
        graded = (grading.grade_samples(own, kind, workers, watch) for kind, own in samples.items() if own)
        return {each.sample.line: _score(each) for each in chain.from_iterable(graded)}, isolation

    def _dataset(self, order: ImportOrder, file: ResultFile, *, needed: bool) -> tuple[str, Dataset | None]:
        """The name of the dataset that the order names or the file suggests, and the dataset if koderz has it.

        ``needed``: koderz must grade the programs.
        """
        named = {order.dataset} if order.dataset else {result.dataset for result in file.results if result.dataset}
        if len(named) > 1:
            raise DataError(
                f"{order.file} has results of several datasets: {', '.join(sorted(named))}. Split the file by dataset."
            )
        name = next(iter(named), "")
        known = {each.lower(): each for each in self._datasets.names()} | _ALIASES
        base, of_variant, variant = name.partition(OF_VARIANT)
        if base.lower() in known:
            return name, self._datasets.load(f"{known[base.lower()]}{of_variant}{variant}")
        prompts = all(result.prompt for result in file.results)  # they show whether the ids suggest the right dataset
        # A user's own file may have the ids and prompts of a published dataset, and other tests.
        guess = not (order.dataset or is_own(name)) and (prompts or not name)
        if guess and (suggested := self._suggested(order, file)):
            return suggested.origin.name, suggested
        if name and (needed or (order.dataset and get_close_matches(name.lower(), known, 1))):
            return name, self._datasets.load(name)  # raises UnknownNameError, which names similar datasets
        if name:
            return name, None
        raise DataError(
            f"koderz cannot derive the dataset of {order.file} from its problem ids, such as "
            f"{file.results[0].problem!r}. Specify the dataset with --dataset."
        )

    def _suggested(self, order: ImportOrder, file: ResultFile) -> Dataset | None:
        """The dataset that the ids of all problems suggest; of several, the preferred one that is present."""
        for beginning, names in _GUESSED.items():
            if all(result.problem.startswith(beginning) for result in file.results):
                if len(names) > 1 and not _gradable(order, file):
                    raise DataError(
                        f"{order.file} does not state which dataset its results belong to: {' or '.join(names)}. "
                        "Specify the dataset with --dataset."
                    )
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
        if isinstance(event, BenchmarkOpened) and event.imported and event.plan == plan:
            if event.imported == imported:
                return True
            if event.imported.sha256 == imported.sha256:
                raise DataError(
                    f"The file {imported.file} was already imported with other options, as {plan.name!r} ({plan.id}). "
                    "Give this import another name with --name."
                )
        raise DataError(
            f"There is another benchmark called {plan.name!r} ({plan.id}) on the same dataset. Give this import "
            "another name with --name."
        )

    def _path(self, plan: Plan) -> Path:
        return self._settings.journals_dir / f"{plan.id}.jsonl"


def _tiers(order: ImportOrder, file: ResultFile) -> Mapping[str, Tier]:
    """The tier of each model: the one that the order states, else the first one in the file, else that of its name."""
    stated = {result.model: result.tier for result in reversed(file.results) if result.tier}
    return {result.model: tier_of_name(result.model) for result in file.results} | stated | dict(order.tiers)


def _priced(file: ResultFile, prices: Mapping[str, tuple[float, float]]) -> ResultFile:
    """Return the results with costs that are computed from their tokens; stated costs do not change."""
    return replace(file, results=tuple(_with_price(result, prices.get(result.model)) for result in file.results))


def _with_price(result: Result, price: tuple[float, float] | None) -> Result:
    tokens = result.usage.input_tokens, result.usage.output_tokens
    if price is None or result.cost.usd is not None or tokens[0] is None or tokens[1] is None:
        return result
    usd = (tokens[0] * price[0] + tokens[1] * price[1]) / 1e6
    source = f"per million tokens: input {price[0]:g} USD, output {price[1]:g} USD; given with --price"
    return replace(result, cost=Cost(usd, source))


def _gradable(order: ImportOrder, file: ResultFile) -> bool:
    """Whether koderz will grade the programs. Raises DataError if it cannot and the file does not state results."""
    if order.as_stated and not file.states_results:
        raise DataError(f"{order.file} does not state which results passed. Omit --as-stated.")
    if not file.has_programs and not file.states_results:
        bare = next(result.line for result in file.results if result.program is None and not result.error)
        unstated = next(result.line for result in file.results if result.passed is None and not result.error)
        raise DataError(
            f"{order.file}, line {bare}, has no program to grade, and line {unstated} does not state whether the "
            "program passed. Add a program to every line, or a result to every line."
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


def _remarks(
    order: ImportOrder, file: ResultFile, parts: Sequence[tuple[Plan, Sequence[Result]]], graded: Dataset | None
) -> Iterator[str]:
    """Yield information for a reader of the preview. ``graded``: the dataset if koderz grades. Raises DataError."""
    if file.remark:
        yield file.remark
    counts = Counter((result.model, result.problem) for result in file.results)
    repeats = {model: plan.repeats for plan, _ in parts for model in plan.models()}
    if fewer := sum(number < repeats[model] for (model, _), number in counts.items()):
        yield (
            f"Problems with fewer samples than the other problems: {fewer} of {len(counts)}. koderz counts the missing "
            "samples as experiments without a result. If the file contains duplicate lines for the other problems, "
            "remove the duplicates."
        )
    without_tokens = {result.model for result in file.results if result.usage.input_tokens is None}
    if useless := sorted(without_tokens & order.prices.keys()):
        yield f"The price of {', '.join(useless)} has no effect on results without token counts."
    if graded:
        yield from _unlike(file, {problem.id: problem for problem in graded.problems})


def _unlike(file: ResultFile, problems: Mapping[str, Problem]) -> Iterator[str]:
    """Answers without a program, which koderz grades as failed although the file states that some passed."""
    answers = [result for result in file.results if not result.error]
    bare = [result for result in answers if _sample(result, problems[result.problem]).program.code is None]
    passed = sum(result.passed is True for result in bare)
    if passed and 2 * len(bare) > len(answers):
        raise DataError(
            f"Of {len(answers)} answers in {file.path}, {len(bare)} contain no program. The file states that {passed} "
            "of the answers without a program passed. Import the stated results with --as-stated."
        )
    if bare:
        yield (
            f"Answers without a program, which koderz counts as failed: {len(bare)} of {len(answers)}."
            + (f" The file states that {passed} of these answers passed." if passed else "")
        )
