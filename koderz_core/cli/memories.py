"""``koderz cortex recall``, ``show`` and ``lessons``: what is remembered, for a person."""

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
@click.option("--kind", type=click.Choice([*KINDS]), default=None, help="Only what is remembered of these.")
@click.option("--category", default="", help="Only of this category, such as learning or error.")
@click.option("--order", type=click.Choice(ORDERS), default="best", show_default=True, help="Which come first.")
@click.option("--faded", is_flag=True, help="Also what has faded or is retired.")
@click.option("--limit", type=Whole(1, MOST), default=10, show_default=True, help="Most that are shown.")
@as_json
@data_dir
def recall(words: tuple[str, ...], data_dir: Path | None, *, as_json: bool, **sought: str | None) -> None:
    """Find memories by words, kind and category; without words the newest. Looking changes nothing in them."""
    asked = {name: value for name, value in sought.items() if value is not None}
    with workspace(data_dir) as opened:
        found = opened.memories.find(Sought(" ".join(words), **asked))  # type: ignore[arg-type]  # parsed by click
    if as_json:
        print_json({"memories": [one.brief() for one in found.memories], "more": found.more})
        return
    for one in found.memories:
        _print_line(one)
    if not found.memories:
        click.echo("Nothing that is remembered fits. What experiments leave behind: koderz cortex status")
    elif found.more:
        click.echo("More fit: --limit, or more words.")


@click.command()
@click.argument("number", type=Whole(1), metavar="ID")
@as_json
@data_dir
def show(number: int, data_dir: Path | None, *, as_json: bool) -> None:
    """Show one memory in full, by its id, with what it has to do with."""
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
@click.option("--dry-run", is_flag=True, help="Show them, and change nothing.")
@as_json
@data_dir
def lessons(data_dir: Path | None, *, dry_run: bool, as_json: bool) -> int:
    """Distil from all journals which errors recur and what changed where the next program passed.

    No model is asked. The lessons are remembered, each in the place of the one on the same error before; strategies
    with --lessons are told of those that were learnt from other problems than the one they solve.
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
        click.echo(f"No error recurred on {LEAST_PROBLEMS} problems or more: there is nothing to learn yet.")
    elif renewed:
        unchanged = len(found) - renewed.added - renewed.renewed
        click.echo(f"Remembered: {renewed.added} new, {renewed.renewed} brought up to date, {unchanged} as before.")
    return code


def _print_line(memory: StoredMemory) -> None:
    click.echo(f"[{memory.id}] {plain(one_line(memory.title), TITLE_CHARS)}\n    {plain(memory.excerpt())}")


def _told(lesson: Lesson) -> dict[str, object]:
    return {**asdict(lesson), "title": lesson.title, "text": lesson.text, "problems": lesson.problems}


def _learnt_from(problems: Iterable[str]) -> str:
    names = [*problems]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return plain(f"From: {', '.join(names[:LISTED])}{more}")
