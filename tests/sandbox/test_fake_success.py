"""Programs that try to be counted as passing without solving anything.

The tricks that fool a plain interpreter, whose exit code is taken for the verdict, must really fool it here: a trick
that fools nobody tests nothing.
"""

import subprocess
import sys

import pytest
from small_problem import DOUBLING, checks, judged

pytestmark = pytest.mark.usefixtures("tier")

WRONG = "def double(x): return 0\n"
READ_CALLER = """
import dis, sys
def double(x):
    frame = sys._getframe(1)
    later = (step for step in dis.get_instructions(frame.f_code) if step.offset > frame.f_lasti)
    return next((step.argval for step in later if step.opname == "LOAD_CONST"), 0)
"""
SCAN_HEAP = """
import dis, gc
def double(x):
    for thing in gc.get_objects():
        if getattr(thing, "__name__", "") == "check" and hasattr(thing, "__code__"):
            held = [step.argval for step in dis.get_instructions(thing) if step.opname == "LOAD_CONST"]
            return dict(zip(held[::2], held[1::2]))[x]
    return 0
"""
KILL_ON_FAILURE = """
import os, sys
def trace(frame, event, argument):
    if event == "exception" and argument[0] is AssertionError:
        os._exit(0)
    return trace
sys.settrace(trace)
sys._getframe().f_back and None
"""

FOOLS_AN_EXIT_CODE = {
    "exit at import": "import sys\nsys.exit(0)",
    "hard exit at import": "import os\nos._exit(0)",
    "print a marker and exit": "import os\nprint('PASSED', flush=True)\nos._exit(0)",
    "hard exit in the function": "import os\ndef double(x): os._exit(0)",
    "exit in the function": "import sys\ndef double(x): sys.exit(0)",
    "always-equal object": "class Equal:\n    def __eq__(self, other): return True\ndef double(x): return Equal()",
    "int that is always equal": "class Equal(int):\n    def __eq__(*_): return True\ndef double(x): return Equal(0)",
    "str that is always equal": "class Equal(str):\n    def __eq__(*_): return True\ndef double(x): return Equal()",
    "hook for uncaught exceptions": "import os, sys\nsys.excepthook = lambda *_: os._exit(0)\n" + WRONG,
    "exit at the interpreter's end": "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG,
    "trace that exits on a failing assert": KILL_ON_FAILURE + WRONG,
    "expected value from the caller's frame": READ_CALLER,
    "expected value from the heap": SCAN_HEAP,
    "child answers, parent exits": "import os\nif os.fork(): os._exit(0)\n" + WRONG,
}

CAUGHT_BY_MOST = {
    "profile hook that swaps the check": """
import sys
def swap(frame, event, argument):
    for space in (frame.f_globals, frame.f_locals):
        if "check" in space: space["check"] = lambda candidate: None
sys.setprofile(swap)
""",
    "result lists in the frames": """
import sys
def double(x):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, list): value.append("passed")
            if isinstance(value, dict): value.update(passed=True, marks="PPP", error=None)
        frame = frame.f_back
    return 0
""",
    "status and details in the frames": """
import sys
def double(x):
    frame = sys._getframe()
    while frame:
        for name in ("stat", "status", "details", "verdict", "report"):
            frame.f_globals[name] = frame.f_locals[name] = "pass"
        frame = frame.f_back
    return 0
""",
    "patched modules of the judge": """
import sys
for module in list(sys.modules.values()):
    for name, value in list(vars(module).items()):
        if name in ("judge", "check", "Recorder", "Site", "Report", "fault_of"):
            setattr(module, name, lambda *_: True)
        elif getattr(value, "__module__", "").startswith("inside.") and hasattr(value, "failed"):
            value.failed = value.note = lambda *_: None
""",
    "verdict on every descriptor": """
import os
for fd in range(64):
    try: os.write(fd, b'{"nonce":"","report":{"marks":"PPP","failures":[],"completed":true}}\\n')
    except OSError: pass
""",
    "verdict on the judge's own descriptors": """
import os
LINE = '{"nonce":"","report":{"marks":"PPP","failures":[],"completed":true,"error":null,"message":"","seconds":0}}'
for fd in os.listdir(f"/proc/{os.getppid()}/fd") if os.path.isdir("/proc") else ():
    if fd == "3": continue
    try: os.write(os.open(f"/proc/{os.getppid()}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK), LINE.encode())
    except OSError: pass
""",
    "answers before they are asked for": """
import os, json
body = b"".join(
    len(line).to_bytes(4, "big") + line
    for line in (json.dumps({"number": n, "value": 2 ** n}).encode() for n in range(4))
)
os.write(4, body)
""",
    "swallowed assertion": """
import builtins, sys
builtins.AssertionError = type("Nothing", (BaseException,), {})
sys.unraisablehook = sys.excepthook = lambda *_: None
def double(x):
    try: return 0
    finally: sys.exc_info = lambda: (None, None, None)
""",
    "the tests' own names": "def check(candidate): pass\n_koderz_site_ = None\ncandidate = double = lambda x: True",
}


@pytest.mark.parametrize("trick", FOOLS_AN_EXIT_CODE)
def test_a_trick_that_fools_an_exit_code_does_not_pass(trick):
    assert not judged(FOOLS_AN_EXIT_CODE[trick]).passed


@pytest.mark.parametrize("trick", FOOLS_AN_EXIT_CODE)
def test_that_trick_fools_a_plain_interpreter(trick):
    script = f"{FOOLS_AN_EXIT_CODE[trick]}\n{DOUBLING}\ncheck(double)\n"
    plain = subprocess.run([sys.executable, "-I", "-c", script], check=False, capture_output=True, timeout=60)
    assert plain.returncode == 0


@pytest.mark.parametrize("trick", CAUGHT_BY_MOST)
def test_a_trick_on_the_judge_itself_does_not_pass(trick):
    code = CAUGHT_BY_MOST[trick]
    verdict = judged(code if "double" in code else code + WRONG)
    assert not verdict.passed
    assert verdict.marks.count("P") == 0


def test_an_always_equal_object_passes_no_kind_of_assert():
    code = """
class Anything:
    def __eq__(self, other): return True
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = __eq__
    __hash__ = object.__hash__
def double(x): return Anything()
"""
    asserts = ("c(1) == 2", "2 == c(1)", "c(1) != 3", "c(1) < 3", "c(1) in (2, 3)", "c(1)", "not c(1)", "c(1) == c(2)")
    verdict = judged(code, checks("c = candidate", *(f"assert {test}" for test in asserts), "assert [c(1)] == [c(1)]"))
    assert verdict.marks == "F" * 9


def test_a_right_program_passes_beside_them():
    assert judged("def double(x): return x + x").passed
