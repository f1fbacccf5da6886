"""A command that is watched lives as if it had been called directly."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from koderz_core.notices.commands import run_command
from koderz_core.notices.messages import last_lines

FLAG = "import sys; from koderz_core.notices.commands import run_command; sys.exit(run_command(sys.argv[1:]).code)"
IN_TERMINAL = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {FLAG}"
COUNTS = """
import os, signal, sys
heard = []

def hear(*_):
    heard.append(1)
    print("heard", len(heard), flush=True)

signal.signal(signal.SIGINT, hear)
print([os.isatty(stream) for stream in (0, 1, 2)], os.get_terminal_size().columns, flush=True)
sys.stdin.readline()
print("in all", len(heard))
"""


@contextmanager
def watched(command: Sequence[str], code: str = FLAG, **streams: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", code, *command], text=True, **streams)
    with process:
        try:
            yield process
        finally:
            process.kill()


def read_until(terminal: int, words: str) -> str:
    said = ""
    while words not in said:
        assert select.select([terminal], [], [], 10.0)[0], said
        said += os.read(terminal, 100).decode()
    return said


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
)
def test_the_exit_code_is_the_commands_as_a_shell_tells_it(script: str, code: int) -> None:
    assert run_command(["sh", "-c", script]).code == code


def test_what_cannot_be_run_ends_as_in_a_shell_and_says_why() -> None:
    absent, folder = run_command(["no-such-command"]), run_command(["/"])
    assert (absent.code, folder.code) == (127, 126)
    assert absent.trouble == "'no-such-command' was not found. Check its spelling, or give its path."


def test_no_shell_reads_the_arguments(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["echo", "$HOME;", "*"]).tail == "$HOME; *\n"


def test_both_outputs_appear_where_they_belong_and_their_end_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    ended = run_command(["sh", "-c", "echo out; echo err >&2"])
    assert tuple(capfd.readouterr()) == ("out\n", "err\n")
    assert sorted(ended.tail.split()) == ["err", "out"]


def test_a_line_whose_beginning_is_lost_is_not_kept(capfd: pytest.CaptureFixture[str]) -> None:
    ended = run_command([sys.executable, "-c", "print('MARKED' * 5000); print('last')"])
    assert ended.tail == "last\n"
    assert len(capfd.readouterr().out) == 30006


@pytest.mark.usefixtures("capfd")
def test_a_progress_bar_that_is_longer_than_what_is_kept_is_shown_in_its_last_state() -> None:
    script = r"print(*(f'\r{n:05} of 1999 MARKED' for n in range(2000)), sep='')"
    ended = run_command([sys.executable, "-c", script])
    assert last_lines(ended.tail) == ("01999 of 1999 MARKED",)
    assert {len(state) for state in ended.tail.rstrip("\n").split("\r")} == {len("01999 of 1999 MARKED")}


def test_what_the_command_left_behind_is_not_waited_for() -> None:
    ended = run_command(["sh", "-c", "sleep 2 & echo bye"])
    assert (ended.code, ended.tail) == (0, "bye\n")
    assert ended.seconds < 1.5


def test_output_is_live_and_input_arrives() -> None:
    with watched(["sh", "-c", "echo ask; read it; echo got $it"], stdin=-1, stdout=-1) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "ask\n"  # while the command still runs
        process.stdin.write("this\n")
        process.stdin.flush()
        assert process.stdout.readline() == "got this\n"


def test_the_command_learns_that_its_reader_left() -> None:
    with watched(["yes"], stdout=-1) as process:
        assert process.stdout
        process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 128 + signal.SIGPIPE


def test_signals_are_passed_on() -> None:
    script = "trap 'echo heard; exit 5' TERM; echo ready; for n in $(seq 500); do sleep 0.02; done"
    with watched(["sh", "-c", script], stdout=-1) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "heard\n"
        assert process.wait() == 5


def test_in_a_terminal_the_command_has_one_of_that_size_and_hears_ctrl_c_once() -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (30, 91))
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True}
    with watched([sys.executable, "-c", COUNTS], IN_TERMINAL, **streams) as process:
        os.close(theirs)
        assert read_until(ours, "\n") == "[True, True, True] 91\r\n"
        process.send_signal(signal.SIGINT)  # as the terminal sends it too: not passed on
        time.sleep(0.1)
        os.write(ours, b"\x03")
        read_until(ours, "heard 1\r\n")
        os.write(ours, b"\n")
        read_until(ours, "in all 1\r\n")
        assert process.wait() == 0
    os.close(ours)
