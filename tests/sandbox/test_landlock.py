"""What Landlock alone forbids, each beside the same lines without it, which succeed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from confined import FREE, LANDLOCK, STRONG, needs_linux, outcome

from koderz_core.sandbox import box
from koderz_core.sandbox.inside import landlock

pytestmark = needs_linux
DONE = "; print('done')"


def needs_abi(version: int) -> pytest.MarkDecorator:
    found = landlock.abi() if needs_linux.args[0] is False else 0
    return pytest.mark.skipif(found < version, reason=f"Landlock's ABI here is {found}, this needs {version}")


def forbidden(code: str, confinement: str = LANDLOCK) -> str:
    """What ``code`` comes to when confined; free, it must get through."""
    assert outcome(code + DONE, FREE) == "done"
    return outcome(code + DONE, confinement)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret.txt"
    file.write_text("secret")
    return file


def test_files_that_are_not_named_cannot_be_read(secret: Path) -> None:
    assert forbidden(f"open({str(secret)!r}).read()") == "PermissionError"


def test_a_way_round_by_dots_is_no_way(secret: Path) -> None:
    around = os.path.relpath(secret, Path(os.__file__).parent)
    assert forbidden(f"open(os.path.dirname(os.__file__) + '/' + {around!r}).read()") == "PermissionError"


def test_folders_that_are_not_named_cannot_be_listed(secret: Path) -> None:
    assert forbidden(f"os.listdir({str(secret.parent)!r})") == "PermissionError"


MAKING = ("open({0!r}, 'w')", "os.mkdir({0!r})", "os.symlink('x', {0!r})", "os.mkfifo({0!r})", "os.link({1!r}, {0!r})")


@pytest.mark.parametrize("making", MAKING)
def test_nothing_can_be_made(making: str, secret: Path) -> None:
    code = making.format(str(secret.with_name("new")), str(secret)) + DONE
    assert outcome(code, LANDLOCK) in {"PermissionError", "OSError"}
    assert not secret.with_name("new").exists()
    assert outcome(code, FREE) == "done"


@pytest.mark.parametrize("losing", ["os.remove({0!r})", "os.rename({0!r}, {0!r} + '.old')", "os.truncate({0!r}, 0)"])
def test_nothing_can_be_removed_moved_or_emptied(losing: str, secret: Path) -> None:
    code = losing.format(str(secret)) + DONE
    assert outcome(code, LANDLOCK) == "PermissionError"
    assert secret.read_text() == "secret"
    assert outcome(code, FREE) == "done"


def test_a_file_that_may_be_read_may_not_be_written(secret: Path) -> None:
    named = f"seccomp.give_up_privileges(); landlock.restrict(landlock.Readable(({str(secret)!r},)))"
    assert outcome(f"print(open({str(secret)!r}).read())", named) == "secret"
    assert outcome(f"open({str(secret)!r}, 'a')", named) == "PermissionError"
    assert outcome(f"os.truncate({str(secret)!r}, 0)", named) == "PermissionError"
    assert secret.read_text() == "secret"


def test_nothing_can_be_executed() -> None:
    assert forbidden("import subprocess; subprocess.run(['/bin/true'])") == "PermissionError"


def test_other_processes_cannot_be_looked_into() -> None:
    assert forbidden(f"open('/proc/{os.getpid()}/environ', 'rb').read()") == "PermissionError"


def test_the_standard_library_stays_but_for_what_was_installed_into_it() -> None:
    library = Path(os.__file__).parent
    installed = next((path for path in library.glob("*-packages/*") if path.is_file()), None)
    assert outcome("import sqlite3, decimal" + DONE, LANDLOCK) == "done"
    assert not any("-packages" in path for path in box.readable().paths)
    if installed:
        assert forbidden(f"open({str(installed)!r}, 'rb').read()") == "PermissionError"


def test_the_null_device_takes_what_is_written() -> None:
    assert outcome("open(os.devnull, 'w').write('x')" + DONE, LANDLOCK) == "done"


def test_a_path_that_does_not_exist_is_left_out() -> None:
    assert outcome("landlock.restrict(landlock.Readable(('/nonexistent',)))" + DONE, LANDLOCK) == "done"


@needs_abi(4)
def test_no_connection_is_made_and_none_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5)"
        assert forbidden(connect) == "PermissionError"
    assert forbidden("import socket; socket.create_server(('127.0.0.1', 0))") == "PermissionError"


@needs_abi(6)
def test_abstract_sockets_of_others_are_out_of_reach() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(b"")  # the kernel chooses an abstract name
        server.listen()
        connect = f"import socket; socket.socket(socket.AF_UNIX).connect({server.getsockname()!r})"
        assert forbidden(connect) == "PermissionError"


@needs_abi(6)
def test_processes_outside_cannot_be_signalled() -> None:
    assert forbidden(f"os.kill({os.getpid()}, 0)") == "PermissionError"


@needs_abi(6)
def test_a_zygote_that_encloses_itself_again_cannot_signal_the_judge() -> None:
    code = "if os.fork(): os.wait()\nelse:\n {0}os.kill(os.getppid(), 0); print('done')"
    assert outcome(code.format(""), LANDLOCK) == "done"
    assert "done" not in outcome(code.format("landlock.restrict(readable); "), LANDLOCK)


def test_root_is_left_no_power_of_root() -> None:
    powers = (
        "print([int(line.split()[1], 16) for line in open('/proc/self/status') if line.startswith(('CapE', 'CapP'))])"
    )
    assert outcome(powers, "seccomp.give_up_privileges()") == "[0, 0]"
    assert os.getuid() or outcome(powers, FREE) != "[0, 0]"


def test_a_restriction_cannot_be_lifted(secret: Path) -> None:
    widen = f"landlock.restrict(landlock.Readable(({str(secret)!r}, '/')))"
    assert outcome(f"{widen}; open({str(secret)!r})", LANDLOCK) == "PermissionError"
    assert outcome(widen, STRONG) == "PermissionError"
