"""The probe tells the truth: its attacks get through where nothing defends, and its reasons say what to do."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from confined import bubblewrap, needs_linux

from koderz_core.sandbox import box, tiers
from koderz_core.sandbox.inside import probe as script
from koderz_core.sandbox.tiers import TierStatus, probe


def standing(isolation: str, bwrap: str | None = None) -> TierStatus:
    return next(tier for tier in probe(bwrap) if tier.isolation == isolation)


@pytest.fixture
def failing(tmp_path: Path) -> str:
    """What bubblewrap does where AppArmor refuses it."""
    file = tmp_path / "bwrap"
    file.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    file.chmod(stat.S_IRWXU)
    return str(file)


@needs_linux
def test_hardened_holds_here() -> None:
    assert standing("hardened", str(bubblewrap())) == TierStatus("hardened", "")


@needs_linux
def test_strong_and_limited_hold_without_bubblewrap() -> None:
    assert [tier.isolation for tier in probe(None) if tier.holds] == ["strong", "limited"]


def test_the_best_comes_first() -> None:
    assert tuple(tier.isolation for tier in probe(None)) == ("hardened", "strong", "limited")


@needs_linux
def test_without_bubblewrap_the_reason_says_how_to_get_it() -> None:
    assert "apt install bubblewrap" in standing("hardened").reason


@needs_linux
def test_where_user_namespaces_are_refused_the_reason_names_them(failing: str) -> None:
    reason = standing("hardened", failing).reason
    assert "user namespaces" in reason
    assert "setting up uid map: Permission denied" in reason


def scripted(folder: Path, *, boxed: bool, readable: box.Readable) -> subprocess.CompletedProcess[bytes]:
    """What the probe's script says when it defends itself or not, and may read so much."""
    file = folder / "secret"
    file.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = (str(file), str(folder), server.getsockname()[1], os.getpid())
        order = msgspec.json.encode({"boxed": boxed, "readable": readable, "target": target}).decode()
        return tiers._run([*box.command("strong", None), str(tiers._SCRIPT), order])


@needs_linux
def test_every_attack_of_the_probe_succeeds_where_nothing_defends(tmp_path: Path) -> None:
    found = msgspec.json.decode(scripted(tmp_path, boxed=False, readable=box.readable()).stdout)
    bounded_anyway = {tiers._TAKES_MEMORY} | ({"starts processes"} if os.getuid() else set())  # by rlimits
    assert set(found["open"]) == set(script._ATTACKS) - bounded_anyway


@needs_linux
def test_a_tier_that_lets_an_attack_through_does_not_hold(tmp_path: Path) -> None:
    undefended = scripted(tmp_path, boxed=False, readable=box.readable())
    fault = tiers._fault("strong", undefended)
    assert fault.startswith("a program in this sandbox still reads files, reads other processes'")
    assert not tiers._fault("limited", undefended)


@needs_linux
def test_a_tier_in_which_honest_programs_fail_does_not_hold(tmp_path: Path) -> None:
    without_library = scripted(tmp_path, boxed=True, readable=box.Readable((), ()))
    assert tiers._fault("strong", without_library).startswith("correct programs fail in this sandbox: ")


@needs_linux
def test_a_kernel_that_refuses_is_said_to_be_the_reason() -> None:
    done = tiers._run(["/bin/echo", '{"refused": "system call 444: Function not implemented"}'])
    assert "system call 444: Function not implemented" in tiers._fault("strong", done)
    assert "Landlock" in tiers._fault("strong", done)


@needs_linux
def test_probing_takes_a_moment_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    started = time.monotonic()
    probe(shutil.which("bwrap"))
    assert time.monotonic() - started < 5  # 0.2 s on an idle machine
    assert not list(tmp_path.glob("koderz-*"))
