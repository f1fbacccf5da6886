"""Results as a file of another tool states them. What the file does not state is None, never zero."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from koderz_core.records import Cost, Tier, Usage

NO_USAGE = Usage()
STATED = "stated in the imported file"
NOT_STATED = Cost(None, "not in the imported file")
ENDINGS = (".gz", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".eval")


def stem(path: Path) -> str:
    """The name of a file without the endings of its format, for example ``gpt-4.1`` of ``gpt-4.1.jsonl.gz``.

    It stands for a model or a benchmark, so characters that cannot be printed become ``?``.
    """
    name = path.name
    while ending := next((ending for ending in ENDINGS if name.lower().endswith(ending) and name != ending), ""):
        name = name[: -len(ending)]
    return "".join(character if character.isprintable() else "?" for character in name).strip() or "results"


@dataclass(frozen=True, slots=True)
class Result:
    """One sample of one problem by one model.

    ``dataset`` and ``prompt``: as the file states them, "" if it does not. ``passed``: as the file states, else None.
    ``program``: its text; ``kind``, one of the grader's ``KINDS``, says what it is. ``line``: its line in the file, or
    its place if the file has no lines. ``seconds``: the duration of the call. ``error``: why the other tool has no
    result, empty if it has one. ``metric``: the one that decided whether it passed, "" if the file names none.
    ``tier``: of its model, if the file states it.
    """

    line: int
    model: str
    problem: str
    dataset: str = ""
    prompt: str = ""
    passed: bool | None = None
    program: str | None = None
    kind: str = ""
    usage: Usage = NO_USAGE
    cost: Cost = NOT_STATED
    seconds: float | None = None
    error: str = ""
    metric: str = ""
    tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class ResultFile:
    """The results of a file, in its order, the format that was recognised, and the metric or scorer that was chosen.

    ``remark``: what the file lacks, empty if nothing.
    """

    path: Path
    format: str
    content: bytes
    results: tuple[Result, ...]
    remark: str = ""

    @property
    def has_programs(self) -> bool:
        """Whether every result has a program, so that koderz can grade it."""
        return all(result.program is not None or result.error for result in self.results)

    @property
    def states_results(self) -> bool:
        """Whether the file states of every result whether it passed."""
        return all(result.passed is not None or result.error for result in self.results)
