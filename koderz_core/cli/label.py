"""``koderz label``: labels and a note of your own on experiments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from koderz_core.cli.options import advised, as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.tables import MOST_OF_LABELS, console, terminal_table
from koderz_core.errors import UsageError
from koderz_core.records.annotations import Annotation, labels_by_experiment, notes_by_experiment
from koderz_core.report.formats import MARKS, one_line, plain
from koderz_core.workspace import Workspace

LISTED = 60  # characters of a note in the list


@click.command()
@click.argument("experiment", required=False)
@click.argument("labels", nargs=-1, metavar="[LABEL ...]")
@click.option("--note", metavar="TEXT", help="Set the note on the experiment. An empty text removes the note.")
@click.option("--remove", metavar="LABEL", multiple=True, help="Remove this label. May be repeated.")
@as_json
@data_dir
def label(
    experiment: str | None,
    labels: tuple[str, ...],
    note: str | None,
    remove: tuple[str, ...],
    as_json: bool,
    data_dir: Path | None,
) -> int:
    """Add labels and a note to an EXPERIMENT, or show its labels. Without EXPERIMENT, list all labelled experiments.

    EXPERIMENT is an id or the start of an id. A LABEL is a word or a phrase, such as "wrong test". Labels and notes
    never change a result. Bundles made with `koderz bundle` contain your labels and, except at the privacy level
    public_safe, your notes. To list the experiments with one label, use `koderz results --label NAME`.
    """
    with workspace(data_dir) as opened:
        if experiment is None:
            if remove or note is not None:
                raise UsageError("--note and --remove need an experiment. Give the id of an experiment before them.")
            annotations: Sequence[Annotation] = opened.results.annotations()
            print_json(annotations) if as_json else _print_all(opened, annotations)
            return report_faults(opened)
        chosen = opened.results.find(experiment)
        if chosen.startswith("bench_"):
            raise UsageError(
                f"{chosen} is a benchmark. Name one of its experiments. To list them: koderz results {chosen} "
                "--experiments"
            )
        if labels or remove or note is not None:
            opened.labels.change(chosen, add=labels, remove=remove, note=note)
        annotations = opened.labels.of(chosen)
        if as_json:
            print_json(annotations)
        else:
            print_annotations(annotations)
            if not annotations:
                click.echo(f"{chosen} has no label and no note.")
        return report_faults(opened)


def print_annotations(annotations: Sequence[Annotation]) -> None:
    """The labels and the note of one experiment, if there are any."""
    for labels in labels_by_experiment(annotations).values():
        click.echo(f"Labels: {plain(', '.join(labels))}")
    for note in notes_by_experiment(annotations).values():
        click.echo(f"Note: {plain(note)}")


def _print_all(opened: Workspace, annotations: Sequence[Annotation]) -> None:
    """One line per experiment; the newest label or note comes first."""
    labels, notes = labels_by_experiment(annotations), notes_by_experiment(annotations)
    newest = {annotation.experiment: annotation.at for annotation in annotations}
    rows = {row.id: row for row in opened.results.experiments(among=tuple(newest))}
    if not rows:
        click.echo(advised('No experiment has a label. To add one: koderz label EXPERIMENT "wrong test"'))
        return
    table = terminal_table("experiment", "problem", "configuration", "outcome", "labels", "note")
    for experiment in sorted(rows, key=lambda name: -newest[name]):
        row = rows[experiment]
        table.add_row(
            row.id,
            plain(row.problem),
            plain(row.label),
            MARKS[row.shown],
            plain(", ".join(labels.get(row.id, ())), MOST_OF_LABELS),
            one_line(notes.get(row.id, ""))[:LISTED],
        )
    console().print(table)
