"""The content of a journal, read without koderz: one line of JSON per event, plain or gzipped.

The last line about a thing counts: a call is identified by experiment, ordinal and attempt, an iteration by experiment
and number, a score by experiment and program, the end of an experiment by the experiment.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recompute_unanswered import Json, unanswered


@dataclass
class Try:
    """One iteration, and what its experiment had used at its end."""

    iteration: int
    gate_passed: bool
    gate_share: float
    error: str | None
    code: str | None
    held_out_passed: bool | None
    usd: float | None
    seconds: float
    tokens: float | None
    joules: float | None


@dataclass
class Trial:
    """One planned experiment. ``outcome`` None: it has not ended. ``calls``: all that cost money or were answered."""

    benchmark: str
    configuration: str
    problem: str
    outcome: str | None = None
    score_kind: str | None = None
    gate_passed: bool | None = None
    failure: str | None = None
    seconds: float = 0.0
    calls: list[Json] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)

    @property
    def scored(self) -> bool:
        return self.outcome in ("solved", "unsolved")

    @property
    def solved(self) -> bool:
        return self.outcome == "solved"

    @property
    def iterations(self) -> int:
        return len(self.tries)

    @property
    def attempts(self) -> int:
        """A program that was submitted without testing is one attempt and not an iteration."""
        return self.iterations or int(self.scored)

    @property
    def answered(self) -> list[Json]:
        return [call for call in self.calls if call["finished"]]

    @property
    def usd(self) -> float | None:
        return total(self.calls)

    @property
    def tokens(self) -> float | None:
        return total(self.calls, "tokens")

    @property
    def joules(self) -> float | None:
        return total(self.calls, "joules")


@dataclass
class Journal:
    """One benchmark: its problems and repeats by the last plan, and a trial for each experiment that started."""

    benchmark: str
    name: str
    problems: list[str]
    repeats: int
    trials: list[Trial]


def total(calls: list[Json], unit: str = "usd") -> float | None:
    """The dollars of calls, or another amount; None if that of a call is unknown."""
    known = [call[unit] for call in calls if call[unit] is not None]
    return sum(known) if len(known) == len(calls) else None


def read(path: Path) -> Journal:
    """Everything that the figures need, in one pass."""
    return _Fold(path).journal()


class _Fold:
    def __init__(self, path: Path) -> None:
        self._plan: Json = {}
        self._tiers: Json = {}
        self._benchmark = ""
        self._started: dict[str, Json] = {}
        self._ended: dict[str, Json | None] = {}
        self._attempt: dict[tuple[str, int], Json] = {}
        self._calls: defaultdict[str, dict[tuple[int, int], Json]] = defaultdict(dict)
        self._tests: defaultdict[str, dict[int, Json]] = defaultdict(dict)
        self._scores: defaultdict[str, dict[str, Json]] = defaultdict(dict)
        lines = list(_lines(path))
        for line in lines:
            if handle := getattr(self, f"_on_{line['kind']}", None):
                handle(line["event"], line["experiment"] or "", line["ordinal"])
        for (experiment, ordinal, attempt), usd in unanswered(lines).items():
            energy = lines[0]["event"]["energy"]
            second = energy["local_watts"] * energy["usd_per_kwh"] / 3.6e6 + energy["local_usd_per_hour"] / 3600
            joules = usd / second * energy["local_watts"]  # both are proportional to the seconds
            self._calls[experiment][ordinal, attempt] |= {"usd": usd, "tokens": 0, "joules": joules}

    def journal(self) -> Journal:
        trials = [self._trial(experiment_id) for experiment_id in self._started]
        problems = list(self._plan["problems"])
        return Journal(self._benchmark, self._plan["name"], problems, self._plan["repeats"], trials)

    def _on_benchmark_opened(self, event: Json, _experiment: str, _ordinal: int) -> None:
        self._benchmark, self._plan = event["benchmark"], event["plan"]
        self._tiers = event["tiers"]

    def _on_experiment_started(self, event: Json, experiment: str, _ordinal: int) -> None:
        self._started[experiment] = event["experiment"]
        self._ended[experiment] = None  # it runs again

    def _on_experiment_finished(self, event: Json, experiment: str, _ordinal: int) -> None:
        self._ended[experiment] = event

    def _on_call_started(self, event: Json, experiment: str, ordinal: int) -> None:
        call = {"model": event["model"], "tier": self._tiers.get(event["model"]), "finished": False}
        self._attempt[experiment, ordinal] = self._calls[experiment][ordinal, event["attempt"]] = call

    def _on_call_finished(self, event: Json, experiment: str, ordinal: int) -> None:
        told = {"finished": True, "usd": event["cost"]["usd"], "seconds": event["seconds"]}
        parts, kwh = [event["usage"].get(f"{side}_tokens") for side in ("input", "output")], event["cost"].get("kwh")
        told |= {"tokens": None if None in parts else sum(parts), "joules": None if kwh is None else kwh * 3.6e6}
        self._attempt[experiment, ordinal].update({**event["usage"], **told})

    def _on_code_tested(self, event: Json, experiment: str, ordinal: int) -> None:
        self._tests[experiment][event["iteration"]] = event | {"ordinal": ordinal}

    def _on_candidate_scored(self, event: Json, experiment: str, _ordinal: int) -> None:
        self._scores[experiment][event["code"]] = event

    def _trial(self, experiment: str) -> Trial:
        begun, ended = self._started[experiment], self._ended[experiment] or {}
        trial = Trial(self._benchmark, begun["configuration"], begun["problem"])
        trial.outcome, trial.score_kind = ended.get("outcome"), ended.get("score_kind")
        trial.seconds, trial.failure = ended.get("seconds", 0.0), ended.get("failure")
        paid = {place: call for place, call in self._calls[experiment].items() if "usd" in call}
        trial.calls = list(paid.values())
        for _, event in sorted(self._tests[experiment].items()):
            before = [call for (ordinal, _), call in paid.items() if ordinal < event["ordinal"]]
            trial.tries.append(self._try(experiment, event, before))
        returned = self._scores[experiment].get(ended.get("code") or "")
        if trial.tries and returned:
            trial.gate_passed = _passed(returned["gate"])
        return trial

    def _try(self, experiment: str, event: Json, calls: list[Json]) -> Try:
        verdict, score = event["verdict"], self._scores[experiment].get(event["code"] or "")
        tests = [test["verdict"] for test in self._tests[experiment].values() if test["ordinal"] <= event["ordinal"]]
        marks, passed = verdict["marks"], bool(_passed(verdict))
        return Try(
            event["iteration"],
            passed,
            marks.count("P") / len(marks) if marks else float(passed),
            verdict["error"],
            event["code"],
            _passed(score["held_out"]) if score else None,
            total(calls),
            sum(step["seconds"] for step in (*(call for call in calls if call["finished"]), *tests)),
            total(calls, "tokens"),
            total(calls, "joules"),
        )


def _passed(verdict: Json | None) -> bool | None:
    if verdict is None:
        return None
    return verdict["completed"] and verdict["error"] is None and set(verdict["marks"]) == {"P"}


def _lines(path: Path) -> Iterator[Json]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
