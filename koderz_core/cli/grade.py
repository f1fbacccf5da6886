"""``koderz grade``: grade one program, or all samples of an evaluation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import decode_source
from pathlib import Path
from typing import Any, get_args

import click

from koderz_core.cli.options import (
    OutputPath,
    as_json,
    data_dir,
    grading_engine,
    mapping,
    print_json,
    workers,
    workspace,
)
from koderz_core.cli.tables import console, progress_bar, terminal_table
from koderz_core.errors import Cancelled, DataError, UsageError
from koderz_core.files import replacement
from koderz_core.input_files import decoded, read_bytes
from koderz_core.records import Dataset, Extracted
from koderz_core.report.formats import isolation, plain, rate
from koderz_core.workspace import Workspace
from koderz_core.workspace.datasets import select
from koderz_core.workspace.grading import (
    Graded,
    Reading,
    Sample,
    TestKind,
    pass_rate,
    read_samples,
    require_sound,
)

FAILED, INFRASTRUCTURE = 4, 3


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--problem", help="Grade FILE as one program (or patch) for this problem, for example HumanEval/0.")
@click.option("--dataset", default="humaneval", show_default=True, help="Name of a dataset, or path of a dataset file.")
@mapping
@click.option(
    "--tests",
    type=click.Choice(get_args(TestKind)),
    default="base",
    show_default=True,
    help="Tests to run. base: only the base tests; plus: also the plus tests.",
)
@workers
@grading_engine
@click.option("--out", type=OutputPath(), help="Write each sample with its result to this file.")
@click.option("--skip-bad", is_flag=True, help="Skip lines that are not valid samples.")
@as_json
@data_dir
def grade(file: Path, as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Grade one program or a file of samples.

    With --problem, FILE is one program; without it, FILE is a JSONL file with one sample per line. Each sample has a
    task_id and one of these keys: completion (text that continues the prompt of a function), solution (a complete
    program, or a patch of a repository) or answer (a model's complete reply). Predictions for SWE-bench have an
    instance_id and a model_patch. Other keys are copied to the output.
    --tests=plus requires a dataset with plus tests, such as humaneval+ or mbpp+. Exits with code 4 if a program fails,
    and with code 3 if a sample could not be graded.
    """
    with workspace(data_dir) as opened:
        dataset = opened.datasets.load(options["dataset"], options["mapping"])
        reading = _program(file, options["problem"], dataset) if options["problem"] else _samples(file, dataset)
        if not options["skip_bad"]:
            require_sound(reading, file)
        with _whole_file(options["out"]) as write:
            graded = _graded(opened, reading, options)
            write([program.row(options["tests"]) for program in graded])
    _print(graded, reading, as_json=as_json)
    if any(program.verdict is None for program in graded):
        return INFRASTRUCTURE
    return FAILED if pass_rate(graded).successes < len(graded) else 0


def _program(file: Path, name: str, dataset: Dataset) -> Reading:
    chosen = select(dataset, name)
    if len(chosen) != 1:
        raise UsageError(f"{name!r} names {len(chosen)} problems. Name one problem with --problem.")
    content = read_bytes(file, "Give the path of a file that contains a program.")
    try:
        code = decoded(content, file) if chosen[0].repository else decode_source(content)  # as Python reads it
    except (UnicodeDecodeError, SyntaxError) as error:
        raise DataError(f"{file} is not UTF-8 text. Save it as UTF-8.") from error
    return Reading((Sample(1, chosen[0], Extracted(code, "solution"), {"task_id": chosen[0].id}),), ())


def _samples(file: Path, dataset: Dataset) -> Reading:
    if file.suffix in (".py", ".diff", ".patch"):
        example = dataset.problems[0].id
        what = "program" if file.suffix == ".py" else "patch"
        raise UsageError(f"{file} is one {what}. Name the problem that it solves, for example --problem {example}")
    return read_samples(file, {problem.id: problem for problem in dataset.problems})


def _graded(opened: Workspace, reading: Reading, options: Mapping[str, Any]) -> list[Graded]:
    """In the order of the file."""
    tested = opened.grading.sandbox.self_test()
    click.echo(f"Isolation: {isolation(tested.isolation, tested.score)}.", err=True)
    try:
        return opened.grading.grade_samples(
            reading.samples, options["tests"], options["workers"], progress_bar, options["engine"]
        )
    except KeyboardInterrupt:
        raise Cancelled("Grading was interrupted. Nothing was written. Run the same command again.") from None


@contextmanager
def _whole_file(path: Path | None) -> Iterator[Any]:  # Any: takes rows
    """A function that writes all rows to ``path`` or none. Raises DataError at once if it cannot be written."""
    if path is None:
        yield lambda _rows: None
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(replacement(path, private=False))
        except OSError as error:
            raise DataError(f"{path} cannot be written: {error.strerror}. Choose another file with --out.") from error
        yield lambda rows: file.writelines(json.dumps(row).encode() + b"\n" for row in rows)


def _print(graded: Sequence[Graded], reading: Reading, *, as_json: bool) -> None:
    errors = Counter(program.error for program in graded if program.error)
    passed = pass_rate(graded)
    if as_json:
        print_json({"samples": len(graded), "passed": passed, "errors": errors, "skipped": reading.faults})
        return
    click.echo(f"{passed.successes} of {passed.n} samples passed: {rate(passed)} (95 % interval)")
    if errors:
        table = terminal_table()
        for name in ("error class", "samples", "example problem", "message"):
            table.add_column(name, justify="right" if name == "samples" else "left", no_wrap=name != "message")
        for error, number in errors.most_common():
            first = next(graded_program for graded_program in graded if graded_program.error == error)
            message = first.verdict.message if first.verdict else first.trouble
            table.add_row(error, str(number), plain(first.sample.problem.id), plain(message, 200))
        console().print(table)
    for remark in _remarks(graded, reading):
        click.echo(remark, err=True)


def _remarks(graded: Sequence[Graded], reading: Reading) -> Iterator[str]:
    if len({graded_program.sample.problem.id for graded_program in graded}) < len(graded):
        yield "The interval is too narrow, because several samples of one problem are not independent."
    if reading.faults:
        yield f"Skipped lines without a valid sample: {len(reading.faults)}. First error: {plain(reading.faults[0])}"
    if shared := sum(graded_program.verdict is not None and graded_program.verdict.shared for graded_program in graded):
        yield f"Programs that could fake a pass, because they ran in the same process as their tests: {shared}"
