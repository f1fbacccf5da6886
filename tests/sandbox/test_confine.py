"""How a confined program ends that takes too much of something."""

from __future__ import annotations

import signal

import pytest
from confined import ENCLOSED, FREE, STRONG, finish, needs_linux, outcome
from sample import thinned

pytestmark = needs_linux
LIMITED = "confine.restrict(confine.Limits(5, 512 << 20), None)"


@pytest.mark.parametrize("confinement", [STRONG, LIMITED])
def test_too_much_memory_is_a_memory_error(confinement: str) -> None:
    assert outcome("print(len(bytearray(1 << 30)))", FREE) == str(1 << 30)
    assert outcome("bytearray(1 << 30)", confinement) == "MemoryError"


@pytest.mark.parametrize("confinement", thinned([LIMITED, STRONG], "confinements that end a program out of time"))
def test_a_program_that_uses_up_its_time_dies_of_the_signal_that_says_so(confinement: str) -> None:
    assert finish("while True: pass", confinement.replace("Limits(5", "Limits(0")).returncode == -signal.SIGXCPU


def test_a_program_that_ignores_that_signal_is_killed() -> None:
    code = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert finish(code, STRONG.replace("Limits(5", "Limits(0")).returncode == -signal.SIGKILL


@pytest.mark.parametrize("confinement", [STRONG, LIMITED])
def test_deep_recursion_is_a_recursion_error(confinement: str) -> None:
    assert outcome("def f(n): return f(n + 1)\nf(0)", confinement) == "RecursionError"


def test_recursion_beyond_every_limit_ends_the_fork_and_not_its_parent() -> None:
    code = """
made = seccomp.Filter("program")
if os.fork() == 0:
    confine.restrict(confine.Limits(5, 512 << 20), made)
    sys.setrecursionlimit(10**9)
    class Endless:
        def __getattr__(self, name): return getattr(self, name + "x" * 1000)
    Endless().a
print(os.waitstatus_to_exitcode(os.wait()[1]) != 0)
"""
    assert outcome(code, ENCLOSED) == "True"


def test_limits_cannot_be_raised_again() -> None:
    raising = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)); print('done')"
    assert outcome(raising, FREE) == "done"
    assert (
        outcome(raising, LIMITED.replace("confine.restrict", "seccomp.give_up_privileges(); confine.restrict"))
        == "ValueError"
    )
    assert outcome(raising, STRONG) == "ValueError"


def test_in_the_strong_tiers_not_a_byte_goes_to_a_file(tmp_path: object) -> None:
    code = f"fd = os.open('{tmp_path}/x', os.O_CREAT | os.O_RDWR)\n{{0}}\nprint(os.write(fd, b'x'))"
    free_to_open = "seccomp.give_up_privileges()"
    restrict = "confine.restrict(confine.Limits(5, 512 << 20), seccomp.Filter('program'))"
    assert outcome(code.format(LIMITED), free_to_open) == "1"
    assert outcome(code.format(restrict), free_to_open) == "OSError"


def test_only_the_descriptors_that_are_named_are_kept() -> None:
    code = """
read, write = os.pipe()
os.dup2(1, 60)
kept = confine.keep_only(60)
os.write(kept[0], f"{kept} {[fd for fd in range(100) if os.path.exists(f'/proc/self/fd/{fd}')]}".encode())
"""
    assert outcome(code, FREE) == "(3,) [0, 1, 2, 3]"


def test_a_child_dies_with_its_parent() -> None:
    code = """
import time
alive, say = os.pipe()
if os.fork() == 0:
    parent = os.getpid()
    if os.fork() == 0:
        confine.die_with_parent(parent)
        os.write(say, b"x")
        time.sleep(60)
    os.read(alive, 1)
    os._exit(0)
os.wait()
os.close(say)
print(os.read(alive, 1) or "gone")  # the end of the pipe comes when nobody holds it any more
"""
    assert outcome(code, FREE) == "gone"
