"""A koderz with additions of a test, in one process for many commands: to start it takes longer than most of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import koderz_core

ROOT = Path(koderz_core.__file__).parents[1]
MOST_SECONDS = 120.0  # of one command
SERVE = """
import json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from koderz_core.cli import main

for order in sys.stdin:
    environment, folder, arguments = json.loads(order)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code
    print(json.dumps([code, *(stream.buffer.getvalue().decode() for stream in (out, err))]), flush=True)
"""

Ended = subprocess.CompletedProcess[str]
Koderz = Callable[..., Ended]


@contextmanager
def lasting(additions: str, folder: Path) -> Iterator[Koderz]:
    """The command line after the Python code ``additions``, which may import modules of ``folder``.

    Each command finds the environment and the current folder of this process.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    command = [sys.executable, "-c", additions + SERVE]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        orders, answers = process.stdin, process.stdout

        def call(*arguments: str) -> Ended:
            patience = Timer(MOST_SECONDS, process.kill)
            patience.start()
            try:
                print(json.dumps([dict(os.environ), str(Path.cwd()), arguments]), file=orders, flush=True)
                code, out, err = json.loads(answers.readline())
            finally:
                patience.cancel()
            return Ended(arguments, code, out, err)

        yield call
