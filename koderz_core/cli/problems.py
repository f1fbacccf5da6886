"""``koderz list-problems``: what there is to solve."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import as_json, data_dir, print_json
from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.selection import select
from koderz_core.export.formats import plain


@click.command(name="list-problems")
@click.option("--dataset", default="humaneval", show_default=True)
@click.option("--humaneval-path", type=click.Path(path_type=Path), help="A HumanEval file of your own.")
@click.option("--problem-id", help="Show this problem, whole.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(0), help="0: all.")
@as_json
@data_dir
def list_problems(
    dataset: str, humaneval_path: Path | None, problem_id: str | None, limit: int, as_json: bool, data_dir: Path | None
) -> None:
    """List the problems of a dataset, or show one."""
    loaded = load(dataset, load_settings(home=data_dir, humaneval_path=humaneval_path))
    problems = select(loaded, problem_id or "all")
    shown = problems[: limit or None]
    if as_json:
        print_json({"dataset": loaded.origin, "problems": [problem.public for problem in shown]})
        return
    if problem_id:
        click.echo(plain("\n\n".join(problem.public.prompt.rstrip() for problem in shown)))
        return
    click.echo(f"{loaded.origin.name}: {len(problems)} problems, {loaded.origin.licence}, {loaded.origin.sha256[:12]}")
    for problem in shown:
        click.echo(f"  {plain(problem.id):<16} {plain(problem.public.entry_point)}")
    if len(shown) < len(problems):
        click.echo(f"  … and {len(problems) - len(shown)} more (--limit 0 shows all)")
