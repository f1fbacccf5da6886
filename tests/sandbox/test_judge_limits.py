import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from small_problem import BWRAP, checks, judged

from koderz_core.sandbox.judge import BoxedJudge

pytestmark = pytest.mark.usefixtures("tier")


@pytest.mark.parametrize(
    "code", ["while True: pass", "import time\ntime.sleep(60)", "import os\nos.kill(os.getpid(), 19)"]
)
def test_a_program_that_does_not_load_in_time_is_stopped(code, quick):
    verdict = judged(code, judge=quick)
    assert (verdict.marks, verdict.error, verdict.message) == ("---", "timeout", "stopped after 0.5 s")


def test_a_call_that_does_not_return_in_time_fails_and_the_rest_is_not_reached(quick):
    verdict = judged("def double(x):\n    while x == 2: pass\n    return 2 * x", judge=quick)
    assert (verdict.marks, verdict.completed, verdict.error) == ("PF-", False, "timeout")


def test_the_deadline_reaches_tests_that_loop_by_themselves(quick):
    tests = checks("assert candidate(1) == 2", "while candidate: pass")
    assert judged("def double(x): return 2 * x", tests, judge=quick).error == "timeout"


@pytest.mark.parametrize(
    "code",
    [
        "import sys\ndef double(x): sys.exit()",
        "import os\ndef double(x): os._exit(0)",
        "def double(x):\n    while True: pass",
    ],
)
def test_a_program_that_ends_beside_its_tests_does_not_pass(code, quick):
    tests = checks("assert candidate(object()) is not None")
    verdict = judged(code, tests, judge=quick, canonical="def double(x): return x")
    assert verdict.shared
    assert not verdict.passed


def test_memory_is_what_the_judge_was_told(tier):
    code = "def double(x):\n    bytearray(200 << 20)\n    return 2 * x"
    assert judged(code).passed
    judge = BoxedJudge(tier, BWRAP, memory_bytes=100 << 20)
    assert judged(code, judge=judge).error == "memory"
    judge.close()


def test_what_a_program_prints_goes_nowhere():
    assert judged("import sys\ndef double(x):\n    print('y' * 10**7, file=sys.stderr)\n    return 2 * x").passed


def test_no_program_writes_files_and_where_nothing_forbids_it_they_are_small(tier):
    written = judged("open('big', 'wb').write(bytes(9 << 20))").error
    assert written == ("exception" if tier == "limited" else "forbidden")


def test_a_program_opens_few_files():
    assert judged("held = [open('/dev/null') for _ in range(99)]").error == "exception"


def test_a_program_has_none_of_our_environment(monkeypatch):
    monkeypatch.setenv("A_SECRET_KEY", "of ours")
    code = "import os, sys\ndef double(x): return [*os.environ], sys.argv[1:]"
    seen = judged(code).failures[0].actual
    assert "SECRET" not in seen
    assert "LC_CTYPE" in seen or "PYTHONHASHSEED" in seen


def test_a_program_has_an_empty_folder_or_none(tier):
    verdict = judged("import os\ndef double(x): return os.listdir()", checks("assert candidate(1) == []"))
    assert verdict.passed if tier == "limited" else verdict.error == "forbidden"


def test_a_program_has_no_descriptors_but_its_channel():
    code = """
import os
def is_open(fd):
    try: return bool(os.fstat(fd))
    except OSError: return False
def double(x): return [fd for fd in range(64) if is_open(fd)]
"""
    assert judged(code, checks("assert candidate(1) == [0, 1, 2, 3]")).passed


# Looks for a text in the whole memory of its own process, without holding that text itself.
SCAN = """
import gc, re, sys
LOOK = re.compile(b"zebra-[7]731-quokk[a]")
def regions():
    try:
        memory = open("/proc/self/mem", "rb", 0)
    except OSError:
        return
    for line in open("/proc/self/maps"):
        span, rights = line.split()[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if "r" in rights and "[v" not in line:
            memory.seek(start)
            yield memory.read(end - start)
def frames():
    frame = sys._getframe()
    while frame:
        yield repr(frame.f_locals).encode()
        frame = frame.f_back
def double(x):
    objects = (repr(thing).encode() for thing in gc.get_objects() if isinstance(thing, (dict, list, tuple)))
    return any(LOOK.search(text) for source in (regions(), frames(), objects) for text in source)
"""


def test_the_tests_and_their_expected_values_are_nowhere_in_a_program_s_memory():
    tests = checks("expected = 'zebra-7731-quokka'", "assert candidate(1) is False")
    assert judged(SCAN, tests).passed


def test_the_search_of_memory_finds_what_is_there():
    assert judged(SCAN + "held = ['zebra-7731-quokka']", checks("assert candidate(1) is True")).passed


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # the latter where it ends between opening and reading
        return False


STAY = """
import os, time
def double(x):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writer, str(os.getpid()).encode())
            time.sleep(60)
        os._exit(0)
    return [os.getppid(), os.getpid(), int(os.read(reader, 20))]
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="orphans are found on Linux only")
def test_nothing_of_a_program_survives_not_even_its_daemons():
    verdict = judged(STAY, checks("assert candidate(1) == 0"))
    if verdict.error == "forbidden" or "Resource temporarily unavailable" in verdict.message:
        return  # it cannot even fork
    pids = [int(pid) for pid in re.findall(r"\d+", verdict.failures[0].actual)]
    assert len(pids) == 3
    assert not any(is_running(pid) for pid in pids)


def test_checks_in_several_threads_do_not_meet():
    codes = [f"def double(x): return x * {factor}" for factor in (2, 3, 2, 4)]
    with ThreadPoolExecutor(2) as pool:
        assert [verdict.passed for verdict in pool.map(judged, codes)] == [True, False, True, False]
