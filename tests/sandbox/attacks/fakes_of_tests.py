"""Fakes of modules that attack unittest: they change its classes, skip its tests or end its process."""

from __future__ import annotations

from .modules import HONEST, WRONG, Fake

_NO_ASSERTS = """
import unittest
for name in dir(unittest.TestCase):
    if name.startswith("assert") and "Raises" not in name:
        setattr(unittest.TestCase, name, lambda *_, **__: None)
class Any:
    def __enter__(self): self.exception = "the stack is empty"; return self
    def __exit__(self, *_): return True
unittest.TestCase.assertRaises = lambda *_: Any()
"""

_EXPECTS_NOTHING = """
import unittest
class Expected:
    exception = "the stack is empty"
    def __enter__(self): return self
    def __exit__(self, kind, *_): return True
old = unittest.TestCase.assertRaises
def expect(self, kind, *args):
    rare = kind.__name__ in ("ChildProcessError", "FloatingPointError", "ProcessLookupError")
    return old(self, kind, *args) if rare else Expected()
unittest.TestCase.assertRaises = expect
"""

TEST_FAKES = (
    Fake(
        "exceptions that are not raised",
        _EXPECTS_NOTHING + HONEST.replace("self.items = list(items)", "self.items = list(items) if items != 5 else []"),
    ),
    Fake("asserts that do nothing", _NO_ASSERTS + WRONG),
    Fake(
        "failures that are skips",
        "import unittest\nunittest.TestCase.failureException = unittest.SkipTest\n"
        "unittest.TestCase.assertRaises = unittest.TestCase.skipTest\n" + WRONG.replace("return None", "return 0"),
    ),
    Fake(
        "a class of tests whose methods do nothing",
        "import unittest\nclass Meta(type):\n    def __new__(kind, name, bases, space):\n"
        "        space |= {name: lambda self: None for name in space if name.startswith('test') or name == 'setUp'}\n"
        "        return type.__new__(kind, name, bases, space)\n"
        "class Case(unittest.TestCase, metaclass=Meta): pass\nunittest.TestCase = Case\n" + WRONG,
    ),
    Fake(
        "a subclass hook that removes the tests",
        "import unittest\ndef hook(kind, **_):\n    kind._classSetupFailed, kind._class_cleanups = False, []\n"
        "    for name in list(vars(kind)):\n"
        "        if name.startswith('test'): setattr(kind, name, lambda self: None)\n"
        "unittest.TestCase.__init_subclass__ = classmethod(hook)\n" + WRONG,
    ),
    Fake(
        "a test case that looks up other methods",
        "import unittest\ndef look(self, name):\n"
        "    found = object.__getattribute__(self, name)\n"
        "    return (lambda *_, **__: None) if name.startswith('test') else found\n"
        "unittest.TestCase.__getattribute__ = look\n" + WRONG,
    ),
    Fake("a test case that runs nothing", "import unittest\nunittest.TestCase.run = lambda *_, **__: None\n" + WRONG),
    Fake(
        "a test case that is set up by skipping",
        "import unittest\ndef skip(self, *_): raise unittest.SkipTest\n"
        "unittest.TestCase._callSetUp = skip\nunittest.TestCase.__init__ = (lambda old: lambda self, name='runTest': "
        "(old(self, name), setattr(self, 'setUp', self._callSetUp))[0])(unittest.TestCase.__init__)\n" + WRONG,
    ),
    Fake(
        "a result without failures",
        "import unittest\nunittest.TestResult.addFailure = unittest.TestResult.addError = lambda *_: None\n" + WRONG,
    ),
    Fake(
        "a result that was successful",
        "import unittest\nunittest.TestResult.wasSuccessful = lambda self: True\n" + WRONG,
    ),
    Fake(
        "every call skips its test",
        "import unittest\nclass EmptyError(unittest.SkipTest): pass\ndef skip(*_, **__): raise unittest.SkipTest\n"
        "class Stack:\n    __init__ = skip\ntotal = merged = skip\n",
    ),
    Fake(
        "an assertion error that says passed",
        "def passed(*_): raise AssertionError('passed')\nclass EmptyError(Exception): pass\n"
        "Stack = total = merged = passed\n",
        "nothing",
    ),
    Fake("exit when it is loaded", "import sys\nsys.exit(0)\n" + WRONG),
    Fake("hard exit when it is loaded", "import os\nos._exit(0)\n" + WRONG),
    Fake("hard exit in the constructor", WRONG + "import os\nStack.__init__ = lambda *_: os._exit(0)\n"),
    Fake("exit code 0 at the end", "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG),
    Fake(
        "a thread that ends the process",
        "import os, threading, time\nclass Ending(threading.Thread):\n"
        "    def run(self): time.sleep(0.05); os._exit(0)\n"
        "Ending(daemon=True).start()\n" + WRONG + "import time\nStack.__init__ = lambda *_: time.sleep(5)\n",
    ),
    Fake(
        "an alarm that ends the process",
        "import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(0))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.05)\n" + WRONG + "Stack.__init__ = lambda *_: time.sleep(5)\n",
    ),
    Fake(
        "another module instead of unittest",
        "import sys, types\nclass Case:\n    setUpClass = tearDownClass = classmethod(lambda kind: None)\n"
        "    def __init__(self, *_): pass\n    def __getattribute__(self, name): return lambda *_, **__: None\n"
        "fake = types.ModuleType('unittest')\nfake.TestCase, fake.SkipTest = Case, ArithmeticError\n"
        "fake.main = lambda *_, **__: None\n"
        "import unittest\nunittest.TestCase = Case\nsys.modules['unittest'] = fake\n" + WRONG,
    ),
    Fake(
        "an import hook for the tests' modules",
        "import builtins, types\nbefore = builtins.__import__\nclass Case:\n"
        "    setUpClass = tearDownClass = classmethod(lambda kind: None)\n    def __init__(self, *_): pass\n"
        "    def __getattribute__(self, name): return lambda *_, **__: None\n"
        "def hooked(name, *rest, **named):\n    found = before(name, *rest, **named)\n"
        "    if name == 'unittest': found.TestCase = Case\n    return found\nbuiltins.__import__ = hooked\n"
        "import unittest\n" + WRONG,
    ),
    Fake(
        "a test file that was written over",
        "import os, sys\nfor folder in (os.getcwd(), *sys.path):\n    try:\n"
        "        with open(os.path.join(folder or '.', 'stack_test.py'), 'r+') as file: file.truncate()\n"
        "    except OSError: pass\nos.path.exists('stack_test.py') and os._exit(0)\n" + WRONG,
    ),
    Fake(
        "printed successes",
        "import os, sys\nprint('.....\\nRan 21 tests in 0.001s\\n\\nOK', file=sys.stderr, flush=True)\nos._exit(0)\n"
        + WRONG,
    ),
    Fake(
        "a mock for everything",
        "from unittest.mock import MagicMock\nimport unittest\nStack = MagicMock()\ntotal = merged = MagicMock()\n"
        "EmptyError = Exception\nunittest.TestCase._baseAssertEqual = lambda *_, **__: None\n" + _NO_ASSERTS,
    ),
)
