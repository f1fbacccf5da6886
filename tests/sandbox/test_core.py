"""A worker's processes stay on one core, and leave it together when others crowd it."""

import os

import pytest
from confined import ENCLOSED, FREE, STRONG, needs_linux, outcome
from small_problem import judged

two_cores = pytest.mark.skipif(os.cpu_count() == 1, reason="there is one core only")
pytestmark = needs_linux
ALONE = "import os\ndef double(x): return 2 * x if len(os.sched_getaffinity(0)) == 1 else 0"
CORE = "from inside.core import Core\ncore = Core(0)\nfirst = core.number\n"


def test_a_program_works_on_one_core_unless_it_may_have_threads(tier):
    assert judged(ALONE).passed == (tier != "limited" or os.cpu_count() == 1)


@two_cores
def test_workers_that_start_one_after_the_other_begin_on_different_cores():
    assert len({outcome(f"from inside.core import Core; print(Core({turn}).number)", FREE) for turn in (6, 7)}) == 2


@two_cores
def test_a_core_of_which_half_was_got_is_left():
    code = "print(core.left(1.0, lambda: 0.5), core.number != first, os.sched_getaffinity(0) == {core.number})"
    assert outcome(CORE + code, FREE) == "True True True"


def test_a_core_that_was_nearly_all_got_is_kept():
    code = "print(core.left(1.0, lambda: 0.9), core.left(1.0, lambda: 1.8), core.number == first)"
    assert outcome(CORE + code, FREE) == "False False True"


def test_where_leaving_does_not_help_it_is_done_ever_less():
    assert 3 <= int(outcome(CORE + "print(sum(core.left(0.01, lambda: 0.0) for _ in range(1000)))", FREE)) <= 7


@pytest.mark.parametrize("confinement", [ENCLOSED, STRONG])
def test_no_process_of_a_worker_moves_a_process_that_is_not_its_own(confinement):
    assert outcome("os.sched_setaffinity(os.getppid(), {0})", confinement) == "PermissionError"


def test_a_program_cannot_move_itself_either():
    assert outcome("os.sched_setaffinity(0, os.sched_getaffinity(0))", STRONG) == "PermissionError"
    assert outcome("print(os.sched_setaffinity(0, os.sched_getaffinity(0)))", ENCLOSED) == "None"
