"""Folders of the sandbox: those of the living stay, those of the killed go."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from koderz_core.sandbox.folders import Folder, folder, sweep

_MAKER = "from koderz_core.sandbox.folders import Folder; made = Folder(); print(made.path, flush=True); input()"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(made))
    monkeypatch.setenv("TMPDIR", str(made))
    return made


def test_what_a_killed_process_left_is_swept_and_not_before(temporary: Path) -> None:
    command = [sys.executable, "-c", _MAKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        made = Path(process.stdout.readline().strip())
        (made / "kept").write_text("")
        sweep()
        assert (made / "kept").exists()
        process.kill()
    sweep()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("module", "call"), [(os, "open"), (fcntl, "flock")])
def test_one_that_is_swept_before_it_is_locked_is_made_again(
    module: object, call: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original: Callable[..., object] = getattr(module, call)
    sweeps = iter([sweep])

    def after_a_sweep(*given: object, **named: object) -> object:
        for due in sweeps:
            due()
        return original(*given, **named)

    monkeypatch.setattr(module, call, after_a_sweep)
    made = Folder()
    assert made.path.exists()
    made.remove()


def test_a_link_of_that_name_leads_nowhere(temporary: Path) -> None:
    (temporary / "elsewhere").mkdir()
    (temporary / "koderz-sandbox-link").symlink_to(temporary / "elsewhere")
    sweep()
    assert (temporary / "elsewhere").exists()


def test_it_is_gone_afterwards(temporary: Path) -> None:
    with folder() as made:
        (made / "file").write_text("")
    assert list(temporary.iterdir()) == []
