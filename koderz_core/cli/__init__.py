"""The command line: one file per command group, each loaded only when its command is called."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import click

from koderz_core import __version__
from koderz_core.errors import Cancelled, InfrastructureError, KoderzError, UsageError
from koderz_core.lazy import load_module

COMMANDS: Mapping[str, str] = {
    "quickstart": "quickstart:quickstart",
    "example": "quickstart:example",
    "run": "benchmark:run",
    "fix": "workbench:fix",
    "ask": "workbench:ask",
    "benchmark": "benchmark:benchmark",
    "study": "study:study",
    "resume": "resume:resume",
    "merge": "merge:merge",
    "pause": "control:pause",
    "stop": "control:stop",
    "change": "control:change",
    "results": "results:results",
    "analyze": "analyze:analyze",
    "search": "search:search",
    "show-spec": "show_spec:show_spec",
    "label": "label:label",
    "compare": "compare:compare",
    "frontier-costs": "compare:frontier_costs",
    "import": "import_results:import_results",
    "export": "bundle:export",
    "bundle": "bundle:bundle",
    "verify": "bundle:verify",
    "problems": "difficulty:problems",
    "what-if": "what_if:what_if",
    "grade": "grade:grade",
    "list-problems": "datasets:list_problems",
    "strengthen": "strengthen:strengthen",
    "forge": "forge:forge",
    "prepare-swebench": "swebench:prepare_swebench",
    "strategies": "strategies:strategies",
    "download-data": "datasets:download_data",
    "models": "models:models",
    "selector": "selector:selector",
    "speed-test": "models:speed_test",
    "conduct": "conduct:conduct",
    "doctor": "doctor:doctor",
    "bug-report": "bug_report:report_bug",
    "notify": "notify:notify",
    "network": "network:network",
    "ui": "ui:ui",
    "serve": "serve:serve",
    "cortex": "cortex:cortex",
    "reindex": "maintenance:reindex",
    "backup": "maintenance:backup",
    "restore": "maintenance:restore",
    "pin": "maintenance:pin",
    "unpin": "maintenance:unpin",
    "delete": "maintenance:delete",
    "prune": "maintenance:prune",
}


def summary(name: str) -> str:
    """The first sentence of a command's docstring, read from its source: to import all commands takes too long."""
    module, _, function = COMMANDS[name].partition(":")
    source = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    (sentence,) = re.findall(rf'^def {function}\(.*?"""(.+?[.?])(?:\s|""")', source, re.MULTILINE | re.DOTALL)
    return " ".join(sentence.split())


class LazyGroup(click.Group):
    """Knows the commands ``elsewhere`` by name, and imports one only to run it."""

    def __init__(self, *args: Any, elsewhere: Mapping[str, str], **settings: Any) -> None:  # Any: click's
        super().__init__(*args, **settings)
        self._elsewhere = elsewhere

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self._elsewhere]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._elsewhere:
            return super().get_command(ctx, name)
        module, _, attribute = self._elsewhere[name].partition(":")
        command: click.Command = getattr(load_module(f"koderz_core.cli.{module}"), attribute)
        return command


_RUNS = frozenset({"ask", "benchmark", "doctor", "fix", "grade", "quickstart", "resume", "run", "study", "verify"})
"""Commands whose exit code is a result: a broken pipe must not turn it into success."""
_ONLY_SHOW = frozenset({"-h", "--help", "--plan-only"})


class _Commands(LazyGroup):
    """All commands, which ``koderz --help`` lists without importing them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's)
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in COMMANDS])

    def invoke(self, ctx: click.Context) -> Any:  # Any: click's
        runs = _ONLY_SHOW.isdisjoint(ctx.args)  # click empties them
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            if runs and ctx.invoked_subcommand in _RUNS:
                raise InfrastructureError(
                    "The program that reads the output ended before koderz. Finished work is kept. Run the same "
                    "command again."
                ) from error
            raise BrokenPipeError from error  # without its number, for which click would exit with 1: a bug in koderz

    def make_context(self, *args: Any, **extra: Any) -> click.Context:  # Any: click's
        try:
            return super().make_context(*args, **extra)  # prints --help and --version
        except BrokenPipeError as error:
            raise BrokenPipeError from error  # as above


@click.group(
    cls=_Commands,
    elsewhere=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="koderz")
def commands() -> None:
    """Measure whether cheap models with many attempts match an expensive model, and at what cost.

    Exit codes: 0 success; 1 a bug in koderz, a hash, id or figure that does not match the journal (found by `verify`),
    or a test notification that could not be sent; 2 wrong usage; 3 a failure of a provider, a file or the network; 4 an
    unsolved problem or a success rate below --fail-under; 5 budget used up; 130 interrupted.
    """


def _check_platform(arguments: Sequence[str]) -> None:
    """Raise UsageError if the system or the command line cannot work, before more is imported."""
    if sys.platform == "win32":
        raise UsageError("koderz does not run directly on Windows. Install it inside WSL2.")
    try:
        " ".join(arguments).encode()
    except UnicodeEncodeError as error:
        raise UsageError("The command line contains bytes that are not valid text. Type the command again.") from error


def _escape_unknown_characters() -> None:
    """Write a character that the encoding of the locale lacks as an escape, as Python does on standard error."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _drop_unwritten() -> None:
    """Drop output that cannot be written, such as to a full disk: otherwise Python tries again, and exits with 120."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _print_error(error: Exception, advice: str = "", prefix: str = "Error: ") -> None:
    from koderz_core.report.formats import plain  # noqa: PLC0415 (only an error needs what it imports)

    notes = "".join(getattr(error, "__notes__", ()))  # added by ``options.workspace``
    with suppress(BrokenPipeError):
        click.echo(f"{prefix}{plain(str(error))}{notes}{advice}", err=True)


class _Plain(logging.Formatter):
    """Warnings may quote the names of foreign files."""

    def format(self, record: logging.LogRecord) -> str:
        from koderz_core.report.formats import plain  # noqa: PLC0415 (only a warning needs what it imports)

        return plain(super().format(record))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry of the ``koderz`` script: the edge where every error becomes a message and an exit code.

    ``arguments`` None: those of the process.
    """
    screen = logging.StreamHandler()
    screen.setLevel(logging.WARNING)  # its own, since what clients log below may quote the password in a base URL
    screen.setFormatter(_Plain("%(message)s"))
    logging.basicConfig(handlers=[screen])
    _escape_unknown_characters()
    try:
        _check_platform(sys.argv[1:] if arguments is None else arguments)
        code = commands.main(arguments, prog_name="koderz", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted. Finished work is kept. Run the same command again to continue.", err=True)
        code = 130
    except Cancelled as stopped:
        _print_error(stopped, prefix="")
        code = stopped.exit_code
    except KoderzError as error:
        _print_error(error)
        _drop_unwritten()
        code = error.exit_code
    except BrokenPipeError:  # the program that read the output has ended, as `head` does: no message can reach it
        _drop_unwritten()
        code = 0
    except OSError as error:
        _print_error(error, ". Check the permissions of the output path and the free space on its disk.")
        _drop_unwritten()
        code = InfrastructureError.exit_code
    except Exception:
        logging.getLogger("koderz").exception("This is a bug in koderz. Please report it with the lines below.")
        code = 1
    sys.exit(code if isinstance(code, int) else 0)
