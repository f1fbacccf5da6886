"""The tables that only docs/study/results.md has, compared with the journals, as far as they are counts and seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from recompute_figures import Case, key
from recompute_journals import Trial

USD_PER_SECOND = 65 * 0.15 / 3.6e6  # of the machine in all these journals: watts, dollars per kilowatt-hour

RESULTS = Path(__file__).resolve().parents[1] / "docs/study/results.md"


def errors(case: Case) -> None:
    names, lines = table("Causes of failure")
    for label, trials in named(case, lines):
        failed = Counter(attempt.error for trial in trials for attempt in trial.tries)
        failed += Counter(trial.failure for trial in trials if not trial.tries)
        case.tally.same("results.md: errors", label, lines[label], [str(failed[kind]) for kind in names])


def machine_time(case: Case) -> None:
    _, lines = table("Machine time per solved problem")
    for label, trials in named(case, lines):
        solved, ours = sum(trial.solved for trial in trials), []
        for model in ("0.5b", "1.5b"):
            usd = [
                call["usd"] for trial in trials if trial.scored for call in trial.calls if call["model"].endswith(model)
            ]
            ours.append(f"{sum(usd) / USD_PER_SECOND / solved:.1f}")
        case.tally.same("results.md: seconds of each model per solve", label, lines[label][:2], ours)


def asked(case: Case) -> None:
    _, lines = table("Calls, tokens and costs by role")
    for label, trials in named(case, lines):
        calls = [call for trial in trials for call in trial.answered]
        tokens = [f"{sum(call[kind] for call in calls) / 1000:.0f}" for kind in ("input_tokens", "output_tokens")]
        ours = [f"{len(calls) / len(trials):.1f}", " / ".join(tokens)]
        case.tally.same("results.md: calls and tokens", label, lines[label][:2], ours)


def choice(case: Case) -> None:
    _, lines = table("Choice among several programs")
    for label, trials in named(case, lines):
        passing = sum(any(attempt.gate_passed for attempt in trial.tries) for trial in trials)
        right = sum(any(attempt.gate_passed and attempt.held_out_passed for attempt in trial.tries) for trial in trials)
        ours = [len(trials), passing, right, sum(trial.solved for trial in trials)]
        case.tally.same("results.md: choice among several programs", label, lines[label], [str(cell) for cell in ours])


def named(case: Case, lines: Mapping[str, Sequence[str]]) -> list[tuple[str, list[Trial]]]:
    """The trials of each line, by its label; a label of no configuration counts as a difference."""
    of = {row["label"]: case.trials[key(row)] for row in case.told["configurations"]}
    case.tally.same("results.md: labels of lines", case.name, bool(lines) and set(lines) <= set(of), True)
    return [(label, of[label]) for label in lines if label in of]


def table(title: str) -> tuple[list[str], dict[str, list[str]]]:
    """Columns except the first, and lines, of the first table whose title starts so; nothing if there is none."""
    _, _, text = RESULTS.read_text(encoding="utf-8").replace("\\", "").partition(f"### {title}")
    body = text.partition("\n\n")[2].partition("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
    return (lines[0][1:], {line[0]: line[1:] for line in lines[2:]}) if lines else ([], {})


TABLES: Mapping[str, Sequence[Callable[[Case], None]]] = {
    "study60": (errors, machine_time),
    "study60 and more24": (asked,),
    "more24": (choice,),
}
"""By the name of the case that they are about."""
