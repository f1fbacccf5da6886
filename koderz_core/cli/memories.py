"""``koderz cortex recall``, ``show`` and ``lessons``: memories for people to read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import click

from koderz_core.cli.numbers import Whole
from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.export.formats import plain
from koderz_core.memory.cortex.searching import StoredMemory, one_line
from koderz_core.memory.lessons import LEAST_PROBLEMS, Lesson
from koderz_core.memory.shelf import KINDS, MOST, ORDERS, Sought

TITLE_CHARS = 200
LISTED = 8  # problems of one lesson


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
        found = opened.memories.find(Sought(" ".join(words), **asked))  # type: ignore[arg-type]  # parsed by click
    if as_json:
        print_json({"memories": [one.brief() for one in found.memories], "more": found.more})
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
        related = [{"how": one.how, **one.memory.brief()} for one in shown.related]
        print_json({**shown.memory.whole(), "retired": shown.retired, "related": related})
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
        print_json({"lessons": [_told(one) for one in found], "kept": renewed})
        return code
    for one in found:
        click.echo(f"{one.title}\n  {one.text}\n  {_learnt_from(one.problems)}")
    if not found:
        click.echo(f"No lessons yet: no error occurred on {LEAST_PROBLEMS} or more problems.")
    elif renewed:
        unchanged = len(found) - renewed.added - renewed.renewed
        click.echo(f"Stored: {renewed.added} new, {renewed.renewed} updated, {unchanged} unchanged.")
    return code


def _print_line(memory: StoredMemory) -> None:
    click.echo(f"[{memory.id}] {plain(one_line(memory.title), TITLE_CHARS)}\n    {plain(memory.excerpt())}")


def _told(lesson: Lesson) -> dict[str, object]:
    return {**asdict(lesson), "title": lesson.title, "text": lesson.text, "problems": lesson.problems}


def _learnt_from(problems: Iterable[str]) -> str:
    names = [*problems]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return plain(f"From: {', '.join(names[:LISTED])}{more}")
