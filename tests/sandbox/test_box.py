"""What a worker is started in at tier ``hardened``: a root with nothing of the host, and an end with its parent."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from confined import FREE, bubblewrap, needs_linux, outcome

from koderz_core.errors import SandboxError
from koderz_core.sandbox import box


def boxed(code: str) -> str:
    bubblewrap()
    return outcome(code, FREE, "hardened")


@needs_linux
def test_the_root_holds_nothing_of_the_host_but_the_interpreter(tmp_path: Path) -> None:
    assert boxed("print(os.listdir('/etc'), os.listdir('/dev'))") == "['ld.so.cache'] ['null']"
    absent = ["/proc", "/sys", "/run", "/var", "/bin", "/home", "/etc/passwd", str(tmp_path), str(Path.home() / ".ssh")]
    assert boxed(f"print([path for path in {absent} if os.path.exists(path)])") == "[]"


@needs_linux
def test_nothing_can_be_written_anywhere(tmp_path: Path) -> None:
    for folder in ("/", "/dev", "/etc", str(box.INSIDE), str(Path(os.__file__).parent)):
        assert boxed(f"open({folder!r} + '/new', 'w')") == "OSError"
    assert boxed(f"os.mkdir({str(tmp_path)!r})") in {"OSError", "FileNotFoundError"}


@needs_linux
def test_the_host_its_processes_and_its_network_are_not_there() -> None:
    seen = "import socket; print(os.uname().nodename, os.getpid() < 5, socket.if_nameindex())"
    assert boxed(seen) == "koderz True [(1, 'lo')]"
    assert boxed(f"os.kill({os.getpid()}, 0)") == "ProcessLookupError"


@needs_linux
def test_of_the_environment_nothing_is_left_and_the_order_of_sets_is_fixed() -> None:
    assert boxed("print(sorted(set(os.environ) - {'PWD', 'LC_CTYPE'}))") == "['LD_BIND_NOW', 'PYTHONHASHSEED']"
    assert boxed("print(sys.flags.hash_randomization)") == "0"


@needs_linux
def test_killing_bubblewrap_ends_what_is_inside() -> None:
    alive, say = os.pipe()
    command = box.command("hardened", str(bubblewrap()))
    code = f"import os, time; os.fork(); os.write({say}, b'x'); time.sleep(60)"
    with subprocess.Popen([*command, "-c", code], env=box.ENVIRONMENT, pass_fds=[say]) as process:
        os.close(say)
        assert os.read(alive, 1)
        assert os.read(alive, 1)
        process.send_signal(signal.SIGKILL)
    started = time.monotonic()
    assert os.read(alive, 1) == b""  # nobody holds the pipe any more
    os.close(alive)
    assert time.monotonic() - started < 10


def test_below_hardened_the_bare_interpreter_is_started_as_it_is() -> None:
    assert box.command("strong", shutil.which("bwrap")) == box.command("limited", None)
    assert box.command("strong", None)[1:] == ["-s", "-S", "-P"]


def test_hardened_without_bubblewrap_says_what_to_do() -> None:
    with pytest.raises(SandboxError, match="apt install bubblewrap"):
        box.command("hardened", None)


def test_the_interpreter_behind_a_virtual_environment_is_started() -> None:
    python = Path(box.command("strong", None)[0])
    assert python.is_file()
    assert not (python.parent.parent / "pyvenv.cfg").exists()
