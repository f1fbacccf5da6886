"""What clients send and receive. These records check every request, and ``/openapi.json`` is made from them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

MOST_SECONDS = 60.0
MEMORY_MB = 1024
MOST_TESTS = 200_000  # characters
MOST_PROGRAMS = 10_000
Name = Annotated[str, Meta(max_length=300)]
Given = Annotated[str, Meta(min_length=1, max_length=300)]
Source = Annotated[str, Meta(max_length=1_000_000)]
Seconds = Annotated[float, Meta(gt=0, le=MOST_SECONDS)]
CommandStatus = Literal["Finished", "Error", "TimeLimitExceeded"]
_KINDS = ("solution", "completion", "answer")


class Sent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all that a client sends: an unknown field is an error, because it would be ignored silently."""


class SentProgram(Sent, frozen=True):
    """One program, and the tests that it must pass: `tests`, or a `problem` of a `dataset`."""

    solution: Annotated[Source | None, Meta(description="A whole program.")] = None
    completion: Annotated[
        Source | None,
        Meta(description="Text that continues the prompt of the problem. Only for problems of the kind `function`."),
    ] = None
    answer: Annotated[Source | None, Meta(description="The whole reply of a model; koderz extracts the program.")] = (
        None
    )
    tests: Annotated[
        str, Meta(max_length=MOST_TESTS, description="Assert statements, or a function `check(candidate)`.")
    ] = ""
    dataset: Annotated[Name, Meta(description="The name of a dataset, as in `koderz list-problems --dataset`.")] = ""
    problem: Annotated[
        Name, Meta(description="The id of a problem in the dataset. koderz runs all tests of the problem.")
    ] = ""
    seconds: Annotated[Seconds | None, Meta(description="The time limit of `tests`. Default: KODERZ_TEST_TIMEOUT.")] = (
        None
    )
    id: Annotated[Name, Meta(description="An id of your choice, which is returned with the result.")] = ""

    def __post_init__(self) -> None:
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"Give exactly one of {', '.join(_KINDS)}; given: {', '.join(given) or 'none'}")
        if bool(self.tests) == bool(self.dataset or self.problem):
            raise ValueError("Give either tests, or dataset and problem")
        if not self.tests and not (self.dataset and self.problem):
            raise ValueError("Give both dataset and problem")
        if self.tests and self.completion is not None:
            raise ValueError(
                "A completion continues the prompt of a problem, so it needs dataset and problem. With tests, send a "
                "solution or an answer"
            )
        if self.seconds is not None and not self.tests:
            raise ValueError(
                "The time limit in the field seconds applies only to your own tests. koderz sets the time limits of "
                "the tests in a dataset"
            )

    @property
    def kind(self) -> str:
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def text(self) -> str:
        return str(getattr(self, self.kind))


class GradeRequest(Sent, frozen=True):
    """One or many programs."""

    programs: Annotated[tuple[SentProgram, ...], Meta(min_length=1, max_length=MOST_PROGRAMS)]


class GradeResult(msgspec.Struct, frozen=True):
    """The result of one program. `passed` is null if it could not be judged; `message` says why."""

    id: str
    passed: bool | None
    tests_passed: int | None
    tests_total: int | None
    error: str | None
    message: str
    seconds: float | None
    tier: str | None
    shared: bool | None


class GradeAnswer(msgspec.Struct, frozen=True):
    """One result per program, in the order of the request."""

    results: list[GradeResult]


class RunCodeRequest(Sent, frozen=True):
    """SandboxFusion's request to run a program. Fields that koderz does not have must keep their defaults."""

    code: Source
    language: Name
    stdin: Source | None = None
    run_timeout: Seconds = 10.0
    compile_timeout: float = 10.0
    memory_limit_mb: float = msgspec.field(default=-1, name="memory_limit_MB")
    files: dict[str, str | None] = {}
    fetch_files: tuple[str, ...] = ()
    args: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.language != "python":
            raise ValueError(f"koderz runs Python only, not {self.language[:50]!r}. Set language to python")
        for field in ("files", "fetch_files", "args"):
            if getattr(self, field):
                raise ValueError(f"{field} must be empty, because koderz runs programs without files or arguments")
        if self.memory_limit_mb not in (-1, MEMORY_MB):
            raise ValueError(f"memory_limit_MB must be -1 or {MEMORY_MB}, the memory limit of every program")


class CommandResult(msgspec.Struct, frozen=True):
    """SandboxFusion's result of a command. `stderr` is a line of koderz about the error, not the program's own."""

    status: CommandStatus
    execution_time: float
    return_code: int
    stdout: str
    stderr: str


class RunCodeAnswer(msgspec.Struct, frozen=True):
    """SandboxFusion's answer. `Success` means exit code 0, which every program can reach: it is no verdict."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    compile_result: CommandResult | None = None
    run_result: CommandResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}


class SubmitConfig(Sent, frozen=True):
    """SandboxFusion's configuration. Fields that koderz does not have must be empty."""

    language: Literal["python"] | None = None
    locale: Name | None = None
    is_fewshot: bool | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = None
    dataset_type: Name | None = None
    custom_extract_logic: Name | None = None
    provided_data: dict[str, msgspec.Raw] | list[msgspec.Raw] | None = None
    extra: dict[str, msgspec.Raw] = {}

    def __post_init__(self) -> None:
        for field in ("dataset_type", "custom_extract_logic", "provided_data", "extra", "run_timeout"):
            if getattr(self, field):
                raise ValueError(f"koderz does not support {field}. Omit it, or send your own tests to /v1/grade")


class SubmitRequest(Sent, frozen=True):
    """SandboxFusion's request to grade a model's reply to a problem."""

    dataset: Given
    id: int | Given
    completion: Source
    config: SubmitConfig = SubmitConfig()


class SubmitTest(msgspec.Struct, frozen=True):
    """SandboxFusion's test case: koderz reports all tests of a problem as one."""

    passed: bool
    exec_info: RunCodeAnswer
    test_info: dict[str, str] | None = None


class SubmitAnswer(msgspec.Struct, frozen=True):
    """SandboxFusion's result. `extra` has koderz' own figures."""

    id: int | str
    accepted: bool
    extracted_code: str
    tests: list[SubmitTest]
    extracted_type: Literal["fenced", "incomplete_fenced", "heuristic", "empty"]
    extra: GradeResult
    full_code: str | None = None
    test_code: str | None = None


class SentConfiguration(Sent, frozen=True):
    """A strategy with its models and parameters, as in `koderz benchmark`."""

    strategy: Name
    models: dict[Name, Name | tuple[Name, ...]]
    parameters: dict[Name, bool | int | float | Name] = {}
    gate: Name = "tests"
    feedback: Name = "full"


class LaunchRequest(Sent, frozen=True):
    """A benchmark to start. `max_cost_usd` is required, because a benchmark may spend money."""

    configurations: Annotated[tuple[SentConfiguration, ...], Meta(min_length=1, max_length=100)]
    max_cost_usd: Annotated[float, Meta(ge=0)]
    dataset: Name = "humaneval"
    problems: Annotated[
        Source, Meta(description="Selection of problems, as in `koderz benchmark` with `--problems`.")
    ] = "0:10"
    name: Name = ""
    seed: Annotated[int, Meta(ge=0)] = 0
    repeats: Annotated[int, Meta(ge=1, le=1000)] = 1
    concurrency: Annotated[int, Meta(ge=1, le=1000)] | None = None


class LaunchAnswer(msgspec.Struct, frozen=True):
    """The id of the started benchmark, and the number of its experiments."""

    benchmark: str
    experiments: int


class StatusAnswer(msgspec.Struct, frozen=True):
    """The server's version, sandbox tier, and programs: waiting or running, accepted so far; refused requests."""

    version: str
    tier: str
    pending: int
    accepted: int
    refused: int


class ErrorAnswer(msgspec.Struct, frozen=True):
    """The answer to a request that failed: what failed, which item, and what to do."""

    error: str
    status: int


class NoQuery(Sent, frozen=True):
    """No parameters."""


class ExperimentsQuery(Sent, frozen=True):
    """Which experiments."""

    problem: Name | None = None
    solved: Annotated[bool, Meta(description="Return only solved experiments.")] = False
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 1000


class TableQuery(Sent, frozen=True):
    """Which rows. `of`: benchmarks, by default all. Tables that compare configurations, such as comparison and pairs,
    also accept configurations, and by default describe the newest benchmark.
    """

    of: tuple[Name, ...] = ()
    columns: Annotated[tuple[Name, ...], Meta(description="Return only these columns.")] = ()
    same_problems: bool = False


class ComparisonQuery(Sent, frozen=True):
    """Which configurations, named as in `koderz compare`; by default those of the newest benchmark."""

    of: tuple[Name, ...] = ()
    baseline: Name | None = None
    same_problems: bool = False
