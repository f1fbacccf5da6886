"""``koderz strengthen`` and ``koderz list-problems --mutation-score``: how much tests detect, and more of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.options import (
    OutputPath,
    Whole,
    as_json,
    check_overwrite,
    check_writable,
    data_dir,
    print_json,
    workspace,
)
from koderz_core.cli.tables import console, progress_bar, terminal_table
from koderz_core.errors import Cancelled, UsageError
from koderz_core.files import replace_file
from koderz_core.records import Dataset, Problem
from koderz_core.report.formats import numbered, one_line, percent, plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.mutation import MutationScore, Strengthened

WEAK = "weak tests (a third of the mutants or more survive)"
STOPPED = "koderz was interrupted. {}Run the same command again."


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=OutputPath(), help="File to write.  [default: FILE with -strengthened in its name]")
@click.option(
    "--inputs", default=20, show_default=True, type=Whole(1, 200), help="Maximum number of new inputs per problem."
)
@click.option("--seed", default=0, show_default=True, help="Random seed for the new inputs.")
@click.option("--force", is_flag=True, help="Overwrite the output file if it exists.")
@as_json
@data_dir
def strengthen(file: Path, out: Path | None, data_dir: Path | None, **options: Any) -> None:
    """Add held-out inputs to the problems of your own dataset file.

    koderz mutates the inputs in the tests of each problem, and runs the canonical solution on the new inputs to get the
    expected values. It keeps an input if two runs of the solution return the same value within 1 s each. koderz also
    makes mutants of the solution, which are copies with one change each. Some mutants pass the existing tests; koderz
    prefers inputs on which these mutants fail. The new file contains the inputs in the field plus_input. Some inputs
    may be invalid for their problem, so read the new file before you use it.
    """
    out = out or file.with_name(f"{file.name.partition('.jsonl')[0]}-strengthened.jsonl")
    check_overwrite(out, force=options["force"], option="--out")
    if out.parent.exists():  # a missing folder is created
        check_writable(out)
    with workspace(data_dir) as opened:
        lines, found = _strengthened(opened, file, options["inputs"], options["seed"])
    replace_file(out, b"".join(lines), private=False)
    if options["as_json"]:
        print_json({"file": out, "problems": found})
        return
    table = terminal_table("problem", "new inputs", "mutants killed", "remark")
    for problem in found:
        killed = f"{problem.before} -> {problem.after} of {problem.mutants}" if problem.mutants else "–"
        cells = (plain(problem.problem), str(len(problem.inputs)), killed, one_line(problem.reason)[:300])
        table.add_row(*cells)
    console().print(table)
    new, problems = sum(len(problem.inputs) for problem in found), sum(bool(problem.inputs) for problem in found)
    click.echo(
        f"{numbered(new, 'new input')} for {problems} of {numbered(len(found), 'problem')} in {plain(str(out))}."
    )
    click.echo("Read this file before you use it: some inputs may be invalid for their problem.")


def _strengthened(opened: Workspace, file: Path, inputs: int, seed: int) -> tuple[list[bytes], list[Strengthened]]:
    if not file.exists() and str(file) in opened.datasets.names():
        raise UsageError(
            f"{file} is a published dataset. koderz strengthen adds inputs to a dataset file of your own: give its "
            "path. For more tests of published problems, use the datasets humaneval+ and mbpp+."
        )
    try:
        pairs = opened.mutation.strengthen(file, inputs, seed, progress_bar)
    except KeyboardInterrupt:
        raise Cancelled(STOPPED.format("Nothing was written. ")) from None
    return [line for line, _ in pairs], [found for _, found in pairs]


def print_scores(opened: Workspace, loaded: Dataset, problems: Sequence[Problem], options: dict[str, Any]) -> None:
    """Compute the mutation score of the problems' tests, and print them, the weakest first."""
    results = opened.mutation.scores(loaded, problems)
    try:
        scores = list(progress_bar(results, len(problems), "Mutation scores"))
    except KeyboardInterrupt:
        raise Cancelled(STOPPED.format("koderz keeps the scores that it has computed. ")) from None
    if options["as_json"]:
        rows = [{"problem": problem.id, "score": score, "weak": score.weak} for problem, score in scores]
        print_json({"dataset": loaded.origin, "mutation_scores": rows})
        return
    scores.sort(key=lambda pair: (pair[1].killed / pair[1].mutants if pair[1].mutants else 2, pair[0].id))
    shown = scores[: options["limit"] or None]
    table = terminal_table("problem", "mutants", "killed", "killed by base tests", "score", "remark")
    for problem, score in shown:
        table.add_row(plain(problem.id), *_cells(score))
    console().print(table)
    _print_totals([score for _, score in scores], len(scores) - len(shown))


def _cells(score: MutationScore) -> tuple[str, ...]:
    if not score.mutants:
        return "–", "–", "–", "–", one_line(score.reason)[:300]
    share = percent(score.killed / score.mutants)
    return (*map(str, (score.mutants, score.killed, score.killed_by_base)), share, WEAK if score.weak else "")


def _print_totals(scores: Sequence[MutationScore], hidden: int) -> None:
    if hidden:
        click.echo(f"… and {numbered(hidden, 'more problem')} (--limit 0 shows all)")
    mutants, killed = (sum(getattr(score, name) for score in scores) for name in ("mutants", "killed"))
    click.echo(
        f"Mutants that the tests kill: {killed} of {mutants} ({percent(killed / mutants if mutants else None)}). "
        f"Problems with weak tests: {sum(score.weak for score in scores)} of "
        f"{sum(score.mutants > 0 for score in scores)}."
    )
    click.echo("The scores are lower bounds: no test can kill a mutant that behaves like the canonical solution.")
