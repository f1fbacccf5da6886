"""Merging shards: the journals of all parts of a benchmark become one journal of the whole benchmark.

The lines of experiments are copied byte for byte, in the order of their times, and the labels and notes of their users.
Lines about the run of a shard, such as its pauses, are left out: they did not apply to the whole benchmark.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from math import fsum
from pathlib import Path

from koderz_core.errors import JournalError, PlanError, UsageError
from koderz_core.events import (
    AllowanceSet,
    BenchmarkClosed,
    BenchmarkOpened,
    CallFailed,
    Entry,
    Event,
    ExperimentFinished,
    TextStored,
    encode,
)
from koderz_core.events.unanswered_calls import Unanswered
from koderz_core.files import replace_file, replacement, sha256_of
from koderz_core.journal import acquire, holder, read
from koderz_core.journal.annotations import annotations_file, complete_lines
from koderz_core.journal.checking import Line, lines
from koderz_core.records import Allowance, Budget, Plan
from koderz_core.records.shards import LostCall, MergedShard, Shard, shard_in
from koderz_core.runner.budget import PICO, Spending
from koderz_core.runner.header import header_then
from koderz_core.runner.history import History

MOST_SHOWN = 5  # shards, fields or characters that a message names
MOST_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged benchmark: its plan, its shards by number, and the numbers of those that are missing."""

    plan: Plan
    shards: tuple[MergedShard, ...]
    missing: tuple[int, ...]

    @property
    def without_result(self) -> int:
        """The experiments that a resume runs, as far as the merged shards know."""
        return sum(shard.without_result for shard in self.shards)


@dataclass(frozen=True, slots=True)
class _Part:
    """One journal to merge. ``ends``: the result of each of its experiments, with the submitted program."""

    path: Path
    header: BenchmarkOpened
    shard: Shard
    ends: Mapping[str, tuple[str, str | None]]
    record: MergedShard
    concurrency: int
    first_at: float
    last_at: float


def require_separate(plan: Plan, folder: Path) -> None:
    """Raise PlanError if the plan and the journals in ``folder`` divide the same benchmark differently."""
    whole = plan.whole.id
    others = [found for path in folder.glob(f"{whole}-*.jsonl") if (found := shard_in(path.stem))]
    is_whole = (folder / f"{whole}.jsonl").exists()
    if plan.shard and is_whole:
        raise PlanError(
            f"{folder} already contains the journal of the whole benchmark {whole}, so no shard of the benchmark can "
            f"run in this folder. To run the remaining experiments: koderz resume {whole}"
        )
    if not plan.shard and others and not is_whole:
        raise PlanError(
            f"{folder} contains {len(others)} of {others[0][1].count} shards of this benchmark. To merge them: koderz "
            f"merge {whole}, with --partial if shards are missing. To start the benchmark again, use another "
            "--data-dir."
        )
    if plan.shard and (other := next((each for _, each in others if each.count != plan.shard.count), None)):
        raise PlanError(
            f"{folder} contains {other.name} of this benchmark, but this command runs {plan.shard.name}. The number "
            "of shards must be the same in all commands: --shard "
            f"{min(plan.shard.number, other.count)}/{other.count}. To divide the benchmark differently, use another "
            "--data-dir."
        )


def shards_of(folder: Path, name: str) -> list[Path]:
    """The journals of shards in a folder that belong to the benchmark of this id, start of an id, or name."""
    found = []
    for path in sorted(folder.glob("bench_*-of-*.jsonl")):
        named = shard_in(path.stem)
        if named and (path.stem == name or name in (named[0], named[0].partition("_")[2]) or _name_in(path) == name):
            found.append(path)
    return found


def _name_in(path: Path) -> str:
    entries = read(path, max_bytes=1).entries
    event = entries[0].event if entries else None
    return event.plan.name if isinstance(event, BenchmarkOpened) else ""


def merge(paths: Sequence[Path], folder: Path, *, partial: bool = False) -> Merged:
    """Write the journal of the whole benchmark into ``folder`` from the journals of its shards.

    ``partial``: shards or results may be missing; the merged benchmark is stopped then, and can be resumed. Raises
    PlanError for shards that do not belong together, UsageError for missing ones, JournalError.
    """
    parts = _distinct([_part(path) for path in paths])
    first = parts[0]
    for part in parts[1:]:
        _check_same_header(part, first)
    there = {part.shard.number for part in parts}
    missing = tuple(number for number in range(1, first.shard.count + 1) if number not in there)
    _check_complete(parts, missing, partial=partial)
    records = tuple(part.record for part in parts)
    plan = replace(first.header.plan.whole, budget=_budget(parts))
    header = replace(first.header, benchmark=plan.id, plan=plan, merged=records)
    merged = Merged(plan, records, missing)
    _write(folder / f"{plan.id}.jsonl", header, parts, finished=not missing and not merged.without_result)
    return merged


def _part(path: Path) -> _Part:
    if holder(path) is not None:
        raise UsageError(
            f"The shard {path.name} is still running. Wait until it ends, or stop it: koderz stop {path.stem}"
        )
    history, spending, header = History(), Spending(), None
    ends: dict[str, tuple[str, str | None]] = {}
    times: list[float] = []
    lost: list[LostCall] = []
    unanswered = Unanswered()
    experiments: set[str] = set()
    concurrency = 1
    for entry in _entries(path):
        times = [times[0] if times else entry.at, entry.at]
        spending.add(entry)
        experiments.update([entry.experiment] if entry.experiment else [])
        _check_text(entry.event, path)
        lost += _lost(unanswered, entry)
        header = _header_then(header, entry.event)
        history.follow(entry)
        if isinstance(entry.event, AllowanceSet):
            concurrency = entry.event.after.concurrency
        elif isinstance(entry.event, ExperimentFinished) and entry.experiment and history.is_final(entry.experiment):
            ends[entry.experiment] = (entry.event.outcome, entry.event.code)
    if header is None or not header.plan.shard:
        raise PlanError(
            f"{path} is not the journal of a shard. `koderz merge` merges journals that `koderz benchmark --shard` "
            "has written."
        )
    plan, shard = header.plan, header.plan.shard
    planned = plan.experiments()
    if strangers := experiments.difference(experiment.id for experiment in planned):
        raise PlanError(f"{path} contains the experiment {min(strangers)}, which does not belong to {shard.name}.")
    spent = sum(spending.total().values()) / PICO
    without = sum(not history.is_final(experiment.id) for experiment in planned)
    lost += _lost(unanswered, Entry(times[-1], BenchmarkClosed("stopped")))  # the calls that have no end
    record = MergedShard(shard.number, sha256_of(path), len(planned), without, plan.budget.usd, spent, tuple(lost))
    return _Part(path, header, shard, ends, record, concurrency, *times)


def _lost(unanswered: Unanswered, entry: Entry) -> Iterator[LostCall]:
    """The calls that this entry of a shard ends without an answer, if the entry does not record their cost."""
    is_recorded = isinstance(entry.event, CallFailed) and entry.event.cost is not None
    for call in unanswered.add(entry):
        if call.cost is not None and not is_recorded:
            yield LostCall(call.experiment, call.ordinal, call.attempt, call.cost)


def _header_then(before: BenchmarkOpened | None, event: Event) -> BenchmarkOpened | None:
    """As ``header_then``, with the prices and versions of the shard's start: a finished shard takes no others."""
    after = header_then(before, event)
    if before is None or after is None or after is before:
        return after
    tiers = {**after.tiers, **before.tiers}  # an extended plan has further models
    return replace(before, plan=after.plan, tiers=tiers, prompt_versions=after.prompt_versions)


def _check_text(event: Event, path: Path) -> None:
    """Raise JournalError for a text under the hash of another: the merge copies only the first text of each hash."""
    if isinstance(event, TextStored) and event.sha256 != sha256(event.text.encode()).hexdigest():
        raise JournalError(
            f"The shard {path} was not merged, because it was changed after koderz had written it: it contains a text "
            f"that does not match its recorded SHA-256 {_short(event.sha256)}. Use an unchanged copy of the journal."
        )


def _entries(path: Path) -> Iterator[Entry]:
    return (line.entry for line in _sound_lines(path) if line.entry is not None)


def _sound_lines(path: Path) -> Iterator[Line]:
    """The lines of a journal without a torn last one. Raises JournalError for a corrupt one."""
    for number, line in enumerate(lines(path), 1):
        if not line.content.endswith(b"\n"):
            return
        if line.corrupt:
            raise JournalError(
                f"Line {number} of the shard {path} cannot be read, so this shard was not merged. Run `koderz doctor "
                "--repair` for the data folder of the shard. Then repeat the command that ran the shard: koderz runs "
                "the experiment of the unreadable line again."
            )
        yield line


def _distinct(parts: Sequence[_Part]) -> list[_Part]:
    """The parts by number. Of two copies of a shard, the later one counts. Raises PlanError if neither is later."""
    chosen: dict[int, _Part] = {}
    for part in sorted(parts, key=lambda part: (part.shard.number, -len(part.ends))):
        other = chosen.setdefault(part.shard.number, part)
        differing = [name for name, end in part.ends.items() if other.ends.get(name) != end]
        if differing:
            raise PlanError(
                f"{other.path} and {part.path} contain different results of the experiment {min(differing)}. Name only "
                "one of these files."
            )
    if not chosen:
        raise UsageError("There are no shards to merge. Name the journals of the shards, or the id of the benchmark.")
    return [chosen[number] for number in sorted(chosen)]


def _check_same_header(part: _Part, first: _Part) -> None:
    differing = list(_differences(_comparable(part), _comparable(first)))
    if differing:
        field, value, other = differing[0]
        more = f" Other differing fields: {', '.join(name for name, *_ in differing[1:MOST_SHOWN])}." * (
            len(differing) > 1
        )
        raise PlanError(
            f"{part.path} and {first.path} are not shards of the same benchmark: {field} is {_short(value)} in the "
            f"first file and {_short(other)} in the second.{more} Run the shards with the same command, settings and "
            "version of koderz."
        )


def _comparable(part: _Part) -> dict[str, object]:
    """The header without the values that may differ between shards, flat."""
    header, plan = part.header, part.header.plan.whole
    plan = replace(plan, budget=Budget(None, plan.budget.per_experiment_usd, plan.budget.allow_unpriced))
    of_plan = {f"plan.{each.name}": getattr(plan, each.name) for each in fields(plan)}
    values = {each.name: getattr(header, each.name) for each in fields(header)}
    count = {"number of shards": part.shard.count, "total budget": part.shard.usd}
    return {**count, **of_plan, **{name: values[name] for name in values if name not in ("benchmark", "plan")}}


def _differences(values: Mapping[str, object], others: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    for name, value in values.items():
        other = others.get(name)
        if value == other:
            continue
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            for key in sorted({*value, *other}, key=str):
                if value.get(key) != other.get(key):
                    yield f"{name}.{key}", value.get(key), other.get(key)
        else:
            yield name, value, other


def _short(value: object) -> str:
    text = "missing" if value is None else str(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _check_complete(parts: Sequence[_Part], missing: Sequence[int], *, partial: bool) -> None:
    """Raise UsageError for missing shards or results, unless the merge may be partial."""
    if partial:
        return
    if missing:
        named = ", ".join(map(str, missing[:MOST_SHOWN])) + (", …" if len(missing) > MOST_SHOWN else "")
        raise UsageError(
            f"Missing shards: {len(missing)} of {parts[0].shard.count} (numbers: {named}). Run these shards, or add "
            "--partial and run the missing experiments with `koderz resume` after the merge."
        )
    if part := next((part for part in parts if part.record.without_result), None):
        raise UsageError(
            f"{part.path} has {part.record.without_result} experiments without a result. Run the command of "
            f"{part.shard.name} again, or add --partial and run the experiments with `koderz resume` after the merge."
        )


def _budget(parts: Sequence[_Part]) -> Budget:
    """The budget of the whole: the total, or the sum of the shards' budgets if they were changed."""
    first = parts[0]
    budgets = [part.header.plan.budget.usd for part in parts]
    if all(usd == part.shard.share_usd for part, usd in zip(parts, budgets, strict=True)):
        usd = first.shard.usd
    else:
        budgets += [first.shard.share_usd] * (first.shard.count - len(parts))  # of the missing shards
        usd = None if None in budgets else fsum(usd for usd in budgets if usd is not None)
    return replace(first.header.plan.budget, usd=usd)


def _write(path: Path, header: BenchmarkOpened, parts: Sequence[_Part], *, finished: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    begin, end = min(part.first_at for part in parts), max(part.last_at for part in parts)
    allowed = Allowance(header.plan.budget.usd, max(part.concurrency for part in parts))
    with closing(acquire(path)):
        if path.exists():
            raise PlanError(
                f"{path} already exists. To merge the shards again, first delete the merged benchmark, together "
                f"with the results that `koderz resume` has added to it: koderz delete {path.stem}"
            )
        _write_labels(path, parts)  # first: after a failure, the command can be repeated
        with replacement(path, part=path.with_suffix(".part"), private=False) as file:
            file.write(encode(Entry(begin, header)))
            file.write(encode(Entry(begin, AllowanceSet(allowed, os.getpid()))))
            texts: set[bytes] = set()
            for _, content, text in heapq.merge(*(_kept(part.path) for part in parts), key=lambda line: line[0]):
                if text not in texts:
                    file.write(content)
                if text:
                    texts.add(text)
            file.write(encode(Entry(end, BenchmarkClosed("finished" if finished else "stopped"))))


def _write_labels(path: Path, parts: Sequence[_Part]) -> None:
    labels = [labels for part in parts if (labels := annotations_file(part.path)).exists()]
    if labels:
        replace_file(annotations_file(path), b"".join(map(complete_lines, labels)), private=False)


def _kept(path: Path) -> Iterator[tuple[float, bytes, bytes]]:
    """The lines to copy, each with its time; texts also with their hash: of equal texts, the first is copied."""
    at = 0.0
    for line in _sound_lines(path):
        entry = line.entry
        at = at if entry is None else entry.at
        if entry is None or entry.experiment is not None:
            yield at, line.content, b""
        elif isinstance(entry.event, TextStored):
            yield at, line.content, bytes.fromhex(entry.event.sha256)
