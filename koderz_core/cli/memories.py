"""Commands of ``koderz cortex`` for people: ``recall``, ``show``, ``lessons``, ``backfill`` and ``status``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click
import msgspec

from koderz_core.cli.options import Whole, advised, as_json, data_dir, print_json, report_faults, workspace
from koderz_core.errors import CortexError
from koderz_core.report.formats import numbered, plain
from koderz_core.workspace.memories import (
    KINDS,
    LEAST_PROBLEMS,
    MOST,
    ORDERS,
    JournalStatus,
    Lesson,
    MemoryQuery,
    ServerStatus,
    StoredMemory,
    one_line,
)

TITLE_CHARS = 200
MOST_PROBLEMS = 8  # of one lesson
MOST_LOSSES = 20  # of one journal
SHOWN_CHARS = 300


@click.command()
@click.argument("words", nargs=-1)
@click.option("--kind", type=click.Choice([*KINDS]), default=None, help="Show only memories of this kind.")
@click.option("--category", default="", help="Show only memories of this category, such as learning or error.")
@click.option("--order", type=click.Choice(ORDERS), default="best", show_default=True, help="Order of the list.")
@click.option("--faded", is_flag=True, help="Also show retired memories and memories whose importance has decayed.")
@click.option("--limit", type=Whole(1, MOST), default=10, show_default=True, help="Maximum number of memories shown.")
@as_json
@data_dir
def recall(words: tuple[str, ...], data_dir: Path | None, *, as_json: bool, **sought: str | None) -> None:
    """Find memories by words, kind and category. Without WORDS, show the newest memories.

    Searching does not change memories.
    """
    filters = {name: value for name, value in sought.items() if value is not None}
    with workspace(data_dir) as opened:
        found = opened.memories.find(MemoryQuery(" ".join(words), **filters))  # type: ignore[arg-type]  # from click
    if as_json:
        print_json({"memories": [memory.brief() for memory in found.memories], "more": found.more})
        return
    for memory in found.memories:
        _print_line(memory)
    if not found.memories:
        click.echo(advised("No matching memories. To see how many memories are stored: koderz cortex status"))
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
        related = [{"how": other.how, **other.memory.brief()} for other in shown.related]
        print_json({**shown.memory.full(), "retired": shown.retired, "related": related})
        return
    memory = shown.memory
    click.echo(f"[{memory.id}] {plain(one_line(memory.title))}{' (retired)' if shown.retired else ''}")
    click.echo(plain(memory.about()))
    click.echo(f"\n{plain(memory.content)}")
    for other in shown.related:
        click.echo(f"\n{plain(one_line(other.how))}:")
        _print_line(other.memory)


@click.command()
@click.option("--dry-run", is_flag=True, help="Show the lessons, but do not store them.")
@as_json
@data_dir
def lessons(data_dir: Path | None, *, dry_run: bool, as_json: bool) -> int:
    """Derive lessons from all journals. A lesson describes a recurring error and the changes that removed it.

    No model is called. A new lesson replaces the stored lesson about the same error. In a benchmark with --lessons, the
    models receive lessons from other problems, never from the problem that they are solving.
    """
    with workspace(data_dir) as opened:
        found = opened.memories.distilled()
        renewed = None if dry_run else opened.memories.keep(found)
        code = report_faults(opened)
    if as_json:
        print_json({"lessons": [_content(lesson) for lesson in found], "kept": renewed})
        return code
    for lesson in found:
        click.echo(f"{lesson.title}\n  {lesson.text}\n  {_sources(lesson.problems)}")
    if not found:
        click.echo(f"No lessons yet: a lesson needs the same error on at least {LEAST_PROBLEMS} problems.")
    elif renewed:
        unchanged = len(found) - renewed.added - renewed.renewed
        click.echo(f"Lessons stored: {renewed.added} new, {renewed.renewed} updated, {unchanged} unchanged.")
    return code


@click.command()
@click.argument("benchmark", default="", metavar="[BENCHMARK]")
@click.option(
    "--again",
    is_flag=True,
    help="Send memories again even if the server has confirmed them. Use this if the server's memory file was lost.",
)
@data_dir
def backfill(benchmark: str, data_dir: Path | None, *, again: bool) -> int:
    """Send missing memories to the memory server, from all journals or from one benchmark.

    koderz' own memory server never stores a memory twice.
    """
    reported: list[JournalStatus] = []

    def report(journal: JournalStatus) -> None:
        reported.append(journal)
        click.echo(journal_lines(journal))

    with workspace(data_dir) as opened:
        opened.memories.backfill(benchmark, report, again=again)
        if not reported:
            start = advised("Start with: koderz quickstart")
            click.echo(f"There are no journals in {opened.settings.journals_dir}. {start}")
    return 0 if all(journal.complete for journal in reported) else CortexError.exit_code


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@data_dir
def status(data_dir: Path | None, *, as_json: bool) -> int:
    """Show whether the memory server answers, how much of each journal was sent, and why memories are missing."""
    with workspace(data_dir) as opened:
        server, rows = opened.memories.status()
        memory = opened.settings.memory
    if as_json:
        print_json(msgspec.to_builtins({"memory": memory, "server": server, "journals": rows}))
    else:
        for line in status_lines(server, rows, memory):
            click.echo(line)
    return CortexError.exit_code if server.fault else 0


def _print_line(memory: StoredMemory) -> None:
    click.echo(f"[{memory.id}] {plain(one_line(memory.title), TITLE_CHARS)}\n    {plain(memory.excerpt())}")


def _content(lesson: Lesson) -> dict[str, object]:
    return {**asdict(lesson), "title": lesson.title, "text": lesson.text, "problems": lesson.problems}


def _sources(problems: Iterable[str]) -> str:
    names = [*problems]
    more = f" and {len(names) - MOST_PROBLEMS} more" if len(names) > MOST_PROBLEMS else ""
    return plain(f"From: {', '.join(names[:MOST_PROBLEMS])}{more}")


def journal_lines(journal: JournalStatus) -> str:
    """How much of a journal is in memory, then what is missing."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(journal.memories.items())) or "none"
    lines = [f"{plain(journal.benchmark)}: {journal.mirrored} of {journal.events} events sent; memories: {kinds}"]
    lines += [f"  stopped: {plain(journal.fault, SHOWN_CHARS)}"] if journal.fault else []
    for loss in journal.losses[:MOST_LOSSES]:
        verb = "partly stored" if loss.stored else "not stored"
        lines.append(f"  {verb}: {plain(loss.title)} ({plain(loss.why, SHOWN_CHARS)})")
    if len(journal.losses) > MOST_LOSSES:
        lines.append(f"  … and {len(journal.losses) - MOST_LOSSES} more (--json shows all)")
    return "\n".join(lines)


def status_lines(server: ServerStatus, rows: Sequence[JournalStatus], memory: str) -> Iterator[str]:
    """The state of the server, each journal with memories or losses, and what to do."""
    yield f"Server: {plain(server.command)}"
    answers = f"Answers: {plain(server.name)} {plain(server.version)}"
    yield f"No answer: {plain(server.fault)}" if server.fault else answers
    if memory == "off":
        yield "KODERZ_MEMORY is off: koderz sends no memories of running benchmarks."
    if server.held is not None:
        yield f"Memories on the server, in all projects: {server.held}"
        if server.held < (counted := sum(sum(row.memories.values()) for row in rows)):
            again = advised("koderz cortex backfill --again")
            yield (
                f"The server had confirmed {counted} memories, but some of them are now missing. To send the missing "
                f"memories again: {again}"
            )
    if server.trouble:
        yield f"Last error: {plain(server.trouble.said, SHOWN_CHARS)}"
    yield from map(journal_lines, rows)
    if behind := sum(not row.complete for row in rows):
        missing = f"Memories are missing for {numbered(behind, 'benchmark')}."
        yield advised(f"{missing} To store the missing memories: koderz cortex backfill")
