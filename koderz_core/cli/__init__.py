"""The command line: one file per command group, each loaded only when its command is called."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import click

from koderz_core import __version__
from koderz_core.deferred import load_module
from koderz_core.errors import Cancelled, InfrastructureError, KoderzError, UsageError
from koderz_core.export.formats import plain

COMMANDS: Mapping[str, str] = {
    "quickstart": "quickstart:quickstart",
    "example": "example:example",
    "run": "benchmark:run",
    "benchmark": "benchmark:benchmark",
    "resume": "resume:resume",
    "pause": "control:pause",
    "stop": "control:stop",
    "change": "control:change",
    "results": "results:results",
    "analyze": "analyze:analyze",
    "show-spec": "show_spec:show_spec",
    "compare": "compare:compare",
    "frontier-costs": "frontier_costs:frontier_costs",
    "export": "bundle:export",
    "bundle": "bundle:bundle",
    "verify": "verify:verify",
    "problems": "difficulty:problems",
    "grade": "grade:grade",
    "list-problems": "problems:list_problems",
    "strategies": "strategies:strategies",
    "download-data": "download:download_data",
    "models": "models:models",
    "speed-test": "speed_test:speed_test",
    "doctor": "doctor:doctor",
    "notify": "notify:notify",
    "ui": "ui:ui",
    "cortex": "cortex:cortex",
    "reindex": "reindex:reindex",
    "backup": "backup:backup",
    "restore": "backup:restore",
    "pin": "deleting:pin",
    "unpin": "deleting:unpin",
    "delete": "deleting:delete",
    "prune": "deleting:prune",
}
SUMMARIES: Mapping[str, str] = {
    "quickstart": "Run 5 problems with two strategies on a local model and show the table.",
    "example": "Look at a real benchmark that comes with koderz.",
    "run": "Run one problem.",
    "benchmark": "Run strategies on a set of problems.",
    "resume": "Go on with a benchmark as it was planned.",
    "pause": "Let a running benchmark wait.",
    "stop": "Stop a running benchmark.",
    "change": "Change the budget or the concurrency of a running benchmark.",
    "results": "Show what was solved, at what cost, how surely.",
    "analyze": "Look into one benchmark or one experiment.",
    "show-spec": "Show specs, who wrote them, and what came of them.",
    "compare": "Compare configurations: success, cost, and how sure both are.",
    "frontier-costs": "Show what frontier models solve and cost when asked directly.",
    "export": "Write tables and reports into files, for other programs and other people.",
    "bundle": "Make one file of a benchmark that another person can re-check.",
    "verify": "Recompute hashes, ids and figures of a benchmark or a bundle.",
    "problems": "Show which problems are hard for which configurations.",
    "grade": "Grade one program, or a file of samples.",
    "list-problems": "List the problems of a dataset, or check a file of your own.",
    "strategies": "Show the strategies, their roles, parameters and calls.",
    "download-data": "Fetch the files of published datasets.",
    "models": "List, fetch and test models.",
    "speed-test": "Measure how fast models answer.",
    "doctor": "Look at what stands ready, what is missing, and how to mend it.",
    "notify": "Run any command and tell you when it has ended.",
    "ui": "Show the dashboard in the browser.",
    "cortex": "Remember experiments, and serve what is remembered to MCP clients.",
    "reindex": "Rebuild the index from the journals.",
    "backup": "Write all that cannot be made anew into one file.",
    "restore": "Put a backup into the data folder.",
    "pin": "Keep a benchmark from being deleted.",
    "unpin": "Let a benchmark be deleted again.",
    "delete": "Delete benchmarks with what is remembered of them.",
    "prune": "Delete old benchmarks.",
}


class LazyGroup(click.Group):
    """Knows its commands by name and imports one only to run it: ``koderz --help`` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 (click's)
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(load_module(f"koderz_core.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's)
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in COMMANDS])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="koderz")
def commands() -> None:
    """Can cheap models with many tries match an expensive one, at what price, and how surely?

    Exit codes: 0 fine, 1 a bug of koderz or something `verify` found, 2 wrong usage, 3 something around koderz failed,
    4 unsolved or below --fail-under, 5 budget used up, 130 interrupted.
    """


def _check_ground(arguments: Sequence[str]) -> None:
    """Raise UsageError for what cannot work from the start, before anything that needs it is imported."""
    if sys.platform == "win32":
        raise UsageError("koderz runs on Linux, macOS and, on Windows, inside WSL2. Install it there.")
    try:
        " ".join(arguments).encode()
    except UnicodeEncodeError as error:
        raise UsageError("The command line holds bytes that are no text. Type them again.") from error


def _leave_pipe() -> int:
    """The reader left (`| head`): there is nothing more to say, and nobody to say it to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry of the ``koderz`` script: the edge where every error becomes a message and an exit code.

    ``arguments`` None: those of the process.
    """
    screen = logging.StreamHandler()
    screen.setLevel(logging.WARNING)  # its own, since what clients log below may quote the password in a base URL
    logging.basicConfig(format="%(message)s", handlers=[screen])
    try:
        _check_ground(sys.argv[1:] if arguments is None else arguments)
        code = commands.main(arguments, prog_name="koderz", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted. What was finished is kept; the same command goes on.", err=True)
        code = 130
    except Cancelled as stopped:
        click.echo(plain(str(stopped)), err=True)
        code = stopped.exit_code
    except KoderzError as error:
        click.echo(f"Error: {plain(str(error))}", err=True)
        code = error.exit_code
    except BrokenPipeError:
        code = _leave_pipe()
    except OSError as error:
        click.echo(f"Error: {plain(str(error))}. Check the disk, or where the output goes.", err=True)
        code = InfrastructureError.exit_code
    except Exception:
        logging.getLogger("koderz").exception("This is a bug of koderz. Please report it with the lines below.")
        code = 1
    sys.exit(code if isinstance(code, int) else 0)
