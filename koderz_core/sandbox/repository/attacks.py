"""The self-test of a workspace: a tree whose tests attack the machine, before any other tree is run in it."""

from __future__ import annotations

from koderz_core.errors import SandboxError
from koderz_core.sandbox.repository.reports import transcript_of
from koderz_core.sandbox.repository.workspace import Job, Workspace
from koderz_core.sandbox.selftest_programs import planted

_SECONDS = 20.0
_PATH = "test_attacks.py"
_TESTS = """
import os
import socket
import threading

import pytest


def test_cannot_read_a_file_of_the_user():
    with pytest.raises(OSError):
        open({secret!r})


def test_cannot_write_into_a_folder_of_the_user():
    with pytest.raises(OSError):
        open({written!r}, "w")


def test_cannot_connect_to_this_machine():
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", {port}), 5).close()


def test_cannot_start_a_process():
    with pytest.raises(OSError):
        if not os.fork():
            os._exit(0)


def test_can_write_its_own_files(tmp_path):
    (tmp_path / "file").write_text("text")
    with open("file", "w") as file:
        file.write("text")


def test_can_start_a_thread():
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
"""


def examine(workspace: Workspace) -> None:
    """Raises SandboxError if an attack succeeds or an honest test fails. Tier ``limited`` promises nothing here."""
    if workspace.isolation == "limited":
        return
    with planted() as ground:
        secret, written = (str(ground.folder / name) for name in ("secret", "written"))
        text = _TESTS.format(secret=secret, written=written, port=ground.server.getsockname()[1])
        found = transcript_of(workspace.run(Job({_PATH: text.encode()}, None, (_PATH,), _SECONDS)))
    failed = [test for test, report in found.tests.items() if report.outcome != "passed"]
    if failed or not found.completed or len(found.tests) != text.count("\ndef test_"):
        message = f"{failed[0]}: {found.tests[failed[0]].message}" if failed else found.end()
        raise SandboxError(
            f"The sandbox for repositories failed its self-test (sandbox tier {workspace.isolation}; {message[:300]}). "
            "koderz does not use this sandbox. Run `koderz doctor --grader`."
        )
