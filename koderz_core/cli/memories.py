"""Commands of ``koderz cortex`` for people: ``recall``, ``show``, ``lessons``, ``backfill`` and ``status``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click
import msgspec

from koderz_core import __version__
from koderz_core.cli.numbers import Whole
from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.config import load_settings
from koderz_core.errors import CortexError
from koderz_core.memory.client import Client, server_of
from koderz_core.memory.cortex.search import StoredMemory, one_line
from koderz_core.memory.lessons import LEAST_PROBLEMS, Lesson
from koderz_core.memory.memory_file import KINDS, MOST, ORDERS, MemoryQuery
from koderz_core.memory.mirror import open_mirror
from koderz_core.memory.mirror_status import JournalStatus, ServerStatus, journal_files, journal_status, server_status
from koderz_core.memory.mirror_status import backfill as bring
from koderz_core.report.formats import numbered, plain

TITLE_CHARS = 200
MOST_PROBLEMS = 8  # of one lesson
MOST_LOSSES = 20  # of one journal
SHOWN_CHARS = 300


@click.command()
@click.argument("words", nargs=-1)
@click.option("--kind", type=click.Choice([*KINDS]), default=None, help="Show only memories of this kind.")
@click.option("--category", default="", help="Show only memories of this category, such as learning or error.")
@click.option("--order", type=click.Choice(ORDERS), default="best", show_default=True, help="Order of the memories.")
@click.option("--faded", is_flag=True, help="Also show faded and retired memories.")
@click.option("--limit", type=Whole(1, MOST), default=10, show_default=True, help="Maximum number of memories.")
@as_json
@data_dir
def recall(words: tuple[str, ...], data_dir: Path | None, *, as_json: bool, **sought: str | None) -> None:
    """Find memories by words, kind and category. Without WORDS, show the newest. A search changes no memory."""
    asked = {name: value for name, value in sought.items() if value is not None}
    with workspace(data_dir) as opened:
        found = opened.memories.find(MemoryQuery(" ".join(words), **asked))  # type: ignore[arg-type]  # parsed by click
    if as_json:
        print_json({"memories": [memory.brief() for memory in found.memories], "more": found.more})
        return
    for one in found.memories:
        _print_line(one)
    if not found.memories:
        click.echo("No matching memories. To see what is stored: koderz cortex status")
    elif found.more:
        click.echo("More memories match. Raise --limit, or add words.")


@click.command()
@click.argument("number", type=Whole(1), metavar="ID")
@as_json
@data_dir
def show(number: int, data_dir: Path | None, *, as_json: bool) -> None:
    """Show one memory in full, with related memories."""
    with workspace(data_dir) as opened:
        shown = opened.memories.show(number)
    if as_json:
        related = [{"how": memory.how, **memory.memory.brief()} for memory in shown.related]
        print_json({**shown.memory.full(), "retired": shown.retired, "related": related})
        return
    memory = shown.memory
    click.echo(f"[{memory.id}] {plain(one_line(memory.title))}{' (retired)' if shown.retired else ''}")
    click.echo(plain(memory.about()))
    click.echo(f"\n{plain(memory.content)}")
    for one in shown.related:
        click.echo(f"\n{plain(one_line(one.how))}:")
        _print_line(one.memory)


@click.command()
@click.option("--dry-run", is_flag=True, help="Show the lessons, but do not store them.")
@as_json
@data_dir
def lessons(data_dir: Path | None, *, dry_run: bool, as_json: bool) -> int:
    """Extract lessons from all journals: which errors recur, and what changed where the next program passed.

    No model is called. Each stored lesson replaces the earlier one on the same error. Strategies with --lessons give
    the model lessons from other problems than the one that it solves.
    """
    with workspace(data_dir) as opened:
        found = opened.memories.distilled()
        renewed = None if dry_run else opened.memories.keep(found)
        code = report_faults(opened)
    if as_json:
        print_json({"lessons": [_told(lesson) for lesson in found], "kept": renewed})
        return code
    for one in found:
        click.echo(f"{one.title}\n  {one.text}\n  {_learnt_from(one.problems)}")
    if not found:
        click.echo(f"No lessons yet: no error occurred on {LEAST_PROBLEMS} or more problems.")
    elif renewed:
        unchanged = len(found) - renewed.added - renewed.renewed
        click.echo(f"Stored: {renewed.added} new, {renewed.renewed} updated, {unchanged} unchanged.")
    return code


@click.command()
@click.argument("benchmark", default="", metavar="[BENCHMARK]")
@click.option(
    "--again", is_flag=True, help="Also send what was confirmed before, for example after the memory file was lost."
)
@data_dir
def backfill(benchmark: str, data_dir: Path | None, *, again: bool) -> int:
    """Send to the memory server what is missing from all journals, or from one benchmark.

    The server that comes with koderz stores nothing twice.
    """
    settings = load_settings(home=data_dir)
    files, reported = journal_files(settings.journals_dir, benchmark), list[JournalStatus]()
    if not files:
        click.echo(f"There are no journals in {settings.journals_dir}. Start with: koderz quickstart")
        return 0

    def report(one: JournalStatus) -> None:
        reported.append(one)
        click.echo(worded(one))

    with open_mirror(settings, Client(server_of(settings), __version__)) as parts:
        bring(parts, settings.journals_dir, files, report, again=again)
    return 0 if all(one.complete for one in reported) else CortexError.exit_code


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@data_dir
def status(data_dir: Path | None, *, as_json: bool) -> int:
    """Show whether the memory server answers, what it stores of each journal, and what is missing and why."""
    settings = load_settings(home=data_dir)
    folder = settings.journals_dir
    with open_mirror(settings, Client(server_of(settings), __version__)) as parts:
        server = server_status(parts)
        rows = [journal_status(folder, parts.ledger, file) for file in journal_files(folder)]
    if as_json:
        told = {"memory": settings.memory, "server": server, "journals": rows}
        click.echo(json.dumps(msgspec.to_builtins(told), indent=2))
    else:
        for line in worded_condition(server, rows, settings.memory):
            click.echo(line)
    return CortexError.exit_code if server.fault else 0


def _print_line(memory: StoredMemory) -> None:
    click.echo(f"[{memory.id}] {plain(one_line(memory.title), TITLE_CHARS)}\n    {plain(memory.excerpt())}")


def _told(lesson: Lesson) -> dict[str, object]:
    return {**asdict(lesson), "title": lesson.title, "text": lesson.text, "problems": lesson.problems}


def _learnt_from(problems: Iterable[str]) -> str:
    names = [*problems]
    more = f" and {len(names) - MOST_PROBLEMS} more" if len(names) > MOST_PROBLEMS else ""
    return plain(f"From: {', '.join(names[:MOST_PROBLEMS])}{more}")


def worded(one: JournalStatus) -> str:
    """One journal: how much of it is in memory, then what is missing."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(one.memories.items())) or "none"
    lines = [f"{one.benchmark}: {one.mirrored} of {one.events} events mirrored; memories: {kinds}"]
    lines += [f"  stopped: {plain(one.fault, SHOWN_CHARS)}"] if one.fault else []
    for loss in one.losses[:MOST_LOSSES]:
        verb = "partly stored" if loss.stored else "not stored"
        lines.append(f"  {verb}: {plain(loss.title)} ({plain(loss.why, SHOWN_CHARS)})")
    if len(one.losses) > MOST_LOSSES:
        lines.append(f"  … and {len(one.losses) - MOST_LOSSES} more (--json shows all)")
    return "\n".join(lines)


def worded_condition(server: ServerStatus, rows: Sequence[JournalStatus], memory: str) -> Iterator[str]:
    """The state of the server, each journal with memories or losses, and what to do."""
    yield f"Server: {plain(server.command)}"
    yield f"Fails: {plain(server.fault)}" if server.fault else f"Answers: {plain(server.name)} {plain(server.version)}"
    if memory == "off":
        yield "KODERZ_MEMORY is off: running experiments store no memories."
    if server.held is not None:
        yield f"Memories in all projects: {server.held}"
        if server.held < (counted := sum(sum(row.memories.values()) for row in rows)):
            yield f"The server confirmed {counted} but has fewer now. To resend them: koderz cortex backfill --again"
    if server.trouble:
        yield f"Last error: {plain(server.trouble.said, SHOWN_CHARS)}"
    yield from map(worded, rows)
    yield from _cure(rows)


def _cure(rows: Iterable[JournalStatus]) -> Iterator[str]:
    behind = sum(not row.complete for row in rows)
    if behind:
        yield f"Not fully in memory: {numbered(behind, 'benchmark')}. To add the rest: koderz cortex backfill"
