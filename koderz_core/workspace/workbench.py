"""The workbench: koderz works on a person's own file or question instead of a benchmark's problems.

A task runs like an experiment, with the same strategies, models, prices and journal. Its journals are in a folder of
their own, with their own index, so that no statistics of benchmarks contain a task.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from koderz_core.bundles.creation import require_own
from koderz_core.config import Settings
from koderz_core.datasets.asserts import imported_modules, statements
from koderz_core.datasets.task_tests import module_name, problem_id, task_tests
from koderz_core.datasets.tasks import is_task, keep_task
from koderz_core.errors import DataError, PlanError, UnknownNameError
from koderz_core.files import replace_file
from koderz_core.input_files import MOST_TEXT_BYTES, decoded, read_bytes
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.requirements import searches
from koderz_core.prompts import tasks as texts
from koderz_core.prompts.attempts import CODE_LIMIT, failing_tests
from koderz_core.prompts.markdown import BYTES_PER_TOKEN
from koderz_core.records import QUESTION, Budget, Dataset, Plan, Problem, PublicProblem, TestSet, Verdict
from koderz_core.records.rows import ExperimentDetails
from koderz_core.strategies import base_of, complete

if TYPE_CHECKING:
    from koderz_core.workspace.workspace import Workspace

__all__ = ["ANSWERING", "FOLDER", "Answer", "Fix", "Task", "Workbench", "WrittenFile", "within"]

FOLDER = "workbench"
ANSWERING = ("direct", "debate", "ensemble")
"""The strategies that can answer a question: they do not need tests."""
MOST_LISTED = 200
SPARE_TOKENS = 600  # of an answer besides the file: thoughts and explanations


def within(settings: Settings) -> Settings:
    """The settings of the workbench: its records are in a folder of their own, and are not mirrored.

    The rest, such as models, weights and prices, is that of the data folder, also every secret, so that it is masked.
    """
    return settings.changed(records=FOLDER, memory="off")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A text file as koderz has read it. ``text``: with ``\\n`` if all lines end with CRLF.

    ``sha256``: of the bytes on the disk. ``path`` None: the text was entered in a form.
    """

    name: str
    text: str
    path: Path | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A file to fix. ``before``: the verdict on the file as it is. ``remarks``: limits that a person should know."""

    dataset: Dataset
    before: Verdict
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.dataset.origin.name


@dataclass(frozen=True, slots=True)
class Fix:
    """The result of a task. ``code``: the whole new file, None if no answer contained a program. Hostile texts.

    ``before`` and ``after``: the verdicts on the given file and on exactly the text in ``code``.
    """

    details: ExperimentDetails
    file: str
    given: str
    before: Verdict
    code: str | None
    after: Verdict | None

    @property
    def passed(self) -> bool:
        return self.after is not None and self.after.passed

    @property
    def changed(self) -> bool:
        return self.code is not None and self.code != self.given

    @property
    def diff(self) -> str:
        """The changes as a unified diff."""
        before, after = self.given.split("\n"), (self.code or self.given).split("\n")
        return "\n".join(unified_diff(before, after, f"a/{self.file}", f"b/{self.file}", lineterm=""))

    @property
    def sentence(self) -> str:
        """What the tests say, in one sentence."""
        if self.code is None or self.after is None:
            return f"Not fixed: no answer contained a program for {self.file}."
        counted = f"{self.after.tests_passed} of {self.after.tests_total} tests pass"
        before = f"before: {self.before.tests_passed}"
        if self.passed:
            kept = "" if self.changed else " The program is the same as the given file."
            return f"{counted} ({before}).{kept}"
        return f"Not fixed: with the best program, {counted} ({before})."


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a question; ``text`` None: no model answered. Hostile text."""

    details: ExperimentDetails
    text: str | None


class Workbench:
    """Makes tasks, plans them and reads their results. ``inside``: the workspace of the workbench's own records."""

    def __init__(self, inside: Workspace) -> None:
        self.inside = inside
        self._verdicts: dict[tuple[str, str], Verdict] = {}  # by task and text: pages ask again and again

    def close(self) -> None:
        """Stop the tasks that run in the background, and wait until they have ended."""
        self.inside.close()

    def read(self, path: Path, what: str = "a Python file") -> WrittenFile:
        """Read a text file that a person names. Raises DataError."""
        try:
            path = path.expanduser()
        except RuntimeError as error:
            raise DataError(f"{path} cannot be read (no such user). Give the path of {what}.") from error
        content = read_bytes(path, f"Give the path of {what}.", MOST_TEXT_BYTES)
        text = decoded(content, path)
        text = text.replace("\r\n", "\n") if _ends_with_crlf(content) else text
        return WrittenFile(path.name, text, path, hashlib.sha256(content).hexdigest())

    def task(self, file: WrittenFile, tests: WrittenFile, instruction: str = "") -> Task:
        """Make a task of a file and its tests, and run the tests on the file as it is.

        Raises DataError if koderz cannot read the file or its tests or cannot test the file alone, SandboxError.
        """
        if not file.name.endswith(".py"):
            raise DataError(f"{file.name} is not a Python file. koderz fixes only files whose name ends with .py.")
        _require_python(file)
        _require_alone(file)
        for given in (file, tests):
            self._require_no_key(given)
        read = task_tests(tests.text, tests.name, _place(file), file.text)
        public = read.problem(problem_id(_place(file)), "", file.name, file.text)
        problem = Problem(public, TestSet(read.source), "")
        before = self.inside.grading.grade(file.text, problem)
        report = "" if before.passed else failing_tests(before, public)
        prompt = self._masked(texts.fix(file.name, file.text, report, instruction))
        problem = replace(problem, public=replace(public, prompt=prompt))
        task = Task(self._kept(problem), before, tuple(_remarks(file, before)))
        self._verdicts[task.name, file.text] = before
        return task

    def question(self, text: str, files: Sequence[WrittenFile] = ()) -> Dataset:
        """Make a task of a question, with the files that it is about. Raises DataError for an empty question."""
        if not text.strip():
            raise DataError("The question is empty. Write your question.")
        prompt = texts.question(text, [(file.name, file.text) for file in files])
        public = PublicProblem("ask", self._masked(prompt), "", kind=QUESTION)
        return self._kept(Problem(public, TestSet(), ""))

    def plan(self, dataset: Dataset, wanted: Wanted, seed: int = 0, budget: Budget | None = None) -> Plan:
        """Return the plan of a task with one configuration; the same order leads to the same plan.

        The limit of answers grows with the file. Raises as ``Planner.plan``, and PlanError for a strategy that needs
        tests and a question, or a web search.
        """
        (problem,) = dataset.problems
        if problem.public.kind == QUESTION and base_of(wanted.strategy) not in ANSWERING:
            raise PlanError(
                f"The strategy {wanted.strategy} needs tests, but a question has no tests. Use one of these "
                f"strategies: {', '.join(ANSWERING)}."
            )
        if searches(wanted.parameters):
            raise PlanError(
                "koderz fix and koderz ask cannot search the web, because the queries would contain names from your "
                "program. Omit the parameter search."
            )
        order = Order([_with_room(wanted, problem)], "all", seed, budget=budget or Budget())
        return self.inside.plans.plan(order, dataset.origin.name)

    def start(self, plan: Plan) -> str:
        """Run a plan in the background and return its id. An earlier error is retried. Raises as ``Runs.start``."""
        return self.inside.runs.start(plan, retry_errors=True)

    def details(self, benchmark: str) -> ExperimentDetails:
        """Return the only experiment of a task by the id of its plan. Raises UnknownNameError, StoreError."""
        rows = self.inside.results.experiments(benchmark)
        if not rows:
            raise UnknownNameError("task", benchmark, [row.id for row in self.inside.results.benchmarks()])
        return self.inside.results.experiment(rows[0].id)

    def result(self, benchmark: str) -> Fix | Answer:
        """Return the result of a task that has ended. Raises as ``details``, DataError, SandboxError."""
        details = self.details(benchmark)
        row = details.experiment
        code = self.inside.results.texts([row.code])[row.code] if row.code else None
        (problem,) = self.inside.datasets.load(row.dataset).problems
        if problem.public.kind == QUESTION:
            return Answer(details, code)
        given = problem.public.given
        code = None if code is None else texts.with_ending(given, code)
        before = self._verdict(row.dataset, problem, given)
        after = None if code is None else self._verdict(row.dataset, problem, code)
        return Fix(details, problem.public.file, given, before, code, after)

    def history(self) -> Mapping[str, str]:
        """Return the ids of the last recorded tasks, the newest first, with the problem and configuration of each."""
        rows = self.inside.results.experiments(limit=MOST_LISTED)
        known = {row.benchmark: f"{row.problem} · {row.label}" for row in rows if is_task(row.dataset)}
        order = [row.id for row in self.inside.results.benchmarks()]
        return {name: known[name] for name in order if name in known}

    def write(self, file: WrittenFile, code: str, output: Path | None = None) -> Path:
        """Write a new text in place of a file that ``read`` has read, or to ``output``, and return the path.

        The text gets the line ends and the byte order mark of the file, and the file keeps its permissions. Raises
        DataError if the file has changed since it was read, or if the text cannot be written.
        """
        if file.path is None:
            raise DataError(
                "The file was entered as text, so koderz does not know where to write it. Give the path of the file."
            )
        now = read_bytes(file.path, "Nothing was written.")
        target = output or file.path.resolve()  # a link stays a link
        if output is None and hashlib.sha256(now).hexdigest() != file.sha256:
            raise DataError(
                f"{file.path} has changed since koderz read it, so nothing was written. Run the command again, or give "
                "another path with --output."
            )
        text = code.replace("\n", "\r\n") if _ends_with_crlf(now) else code
        mark = b"\xef\xbb\xbf" if now.startswith(b"\xef\xbb\xbf") else b""
        try:
            replace_file(target, mark + text.encode(), private=False)
        except OSError as error:
            raise DataError(f"{target} cannot be written ({error.strerror}). Give another path.") from error
        return target

    def _kept(self, problem: Problem) -> Dataset:
        """Raises UsageError if the data folder shows a bundle."""
        require_own(self.inside.settings.home)
        return keep_task(problem, self.inside.settings)

    def _masked(self, text: str) -> str:
        """A text without keys: the file of a task is kept on the disk."""
        return self.inside.settings.redaction().text(text)

    def _require_no_key(self, file: WrittenFile) -> None:
        """Raise DataError for a file with a key: models would see a mask, and return it in its place."""
        if self._masked(file.text) != file.text:
            raise DataError(
                f"{file.name} contains a key or a password. koderz masks keys in prompts and records, so the new file "
                "would lose the key. Let the program read the key from the environment instead."
            )

    def _verdict(self, task: str, problem: Problem, text: str) -> Verdict:
        if (task, text) not in self._verdicts:
            self._verdicts[task, text] = self.inside.grading.grade(text, problem)
        return self._verdicts[task, text]


def _ends_with_crlf(content: bytes) -> bool:
    """Whether all lines of a file end with CRLF. A file with both kinds of line ends keeps them in its text."""
    return 0 < content.count(b"\n") == content.count(b"\r\n")


def _place(file: WrittenFile) -> Path:
    return file.path.resolve() if file.path else Path(file.name)


def _require_python(file: WrittenFile) -> None:
    """Raise DataError for a file that is not Python: then no test can say anything, and no name is known."""
    try:
        statements(file.text, "")
    except DataError as fault:
        raise DataError(
            f"{file.name}{str(fault).removeprefix('field ')}. Fix the syntax first, because koderz must read the names "
            "that the file defines."
        ) from fault
    if not file.text.strip():
        raise DataError(f"{file.name} is empty.")


def _require_alone(file: WrittenFile) -> None:
    """Raise DataError if a file imports another file of its project, because programs run without other files."""
    folder = file.path.resolve().parent if file.path else None
    known = {*sys.stdlib_module_names, module_name(_place(file))}
    modules = [name for name in imported_modules(file.text, "") if name not in known]
    beside = [
        name
        for name in modules
        if folder and (name == folder.name or any((folder / it).exists() for it in (f"{name}.py", name)))
    ]
    relative = any(getattr(node, "level", 0) for node in statements(file.text, ""))
    if beside or relative:
        named = ", ".join(beside) or "a relative import"
        raise DataError(
            f"{file.name} imports other files of its project ({named}). koderz runs programs without access to other "
            "files, so koderz can only fix a file that imports no other files. Copy the code that the file needs into "
            "the file."
        )


def _remarks(file: WrittenFile, before: Verdict) -> Sequence[str]:
    remarks = []
    if len(file.text) > CODE_LIMIT:
        remarks.append(
            f"{file.name} has {len(file.text):,} characters. A prompt shows at most {CODE_LIMIT:,} characters of an "
            "earlier attempt, so the model sees only a part of each earlier attempt."
        )
    if before.error == "import":
        remarks.append(f"{file.name} cannot be imported: {before.message}. Programs can only use installed packages.")
    return remarks


def _with_room(wanted: Wanted, problem: Problem) -> Wanted:
    """The configuration with room for the whole file in an answer, unless it states its own limit."""
    needed = len(problem.public.given.encode()) // BYTES_PER_TOKEN + SPARE_TOKENS
    usual = complete(wanted.strategy, {}).get("max_tokens")
    if "max_tokens" in wanted.parameters or not isinstance(usual, int) or usual >= needed:
        return wanted
    return replace(wanted, parameters={**wanted.parameters, "max_tokens": needed})
