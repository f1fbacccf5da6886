"""Fakes of modules that answer with the values that the tests expect, or that attack the judge's own report."""

from __future__ import annotations

from .modules import HONEST, WRONG, Fake

_YES = """
class Yes:
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = lambda *_: True
    __hash__ = object.__hash__
    __class__ = int
"""
_NEXT_CONSTANT = """
import dis, sys
def total(numbers):
    frame = sys._getframe(1)
    later = (step for step in dis.get_instructions(frame.f_code) if step.offset > frame.f_lasti)
    return next((step.argval for step in later if step.opname == "LOAD_CONST"), 0)
"""
_EXPECTED_ERROR = """
import gc
def expected():
    waiting = [found for found in gc.get_objects() if type(found).__name__ == "_AssertRaisesContext"]
    return waiting[-1].expected if waiting else ()
"""
_REPORT = """
import sys
def channel_and_number():
    frame = sys._getframe()
    while frame:
        if "channel" in frame.f_locals and "question" in frame.f_locals:
            return frame.f_locals["channel"], frame.f_locals["question"]
        frame = frame.f_back
    return None, None
def forge():
    channel, question = channel_and_number()
    if channel and question.get("ask") == "tests":
        count = question["tests"].count("assert outcome_of_case")
        report = {"marks": MARKS(count), "failures": [], "error": None, "message": "", "completed": True,
                  "test_seconds": [0.0] * count}
        channel.send({"number": question["number"], "report": report})
        import os; os._exit(0)
"""
_FORGES = WRONG + "Stack.__init__ = lambda *_: forge()\ntotal = merged = lambda *_: forge()\n"
_ALL = "MARKS = lambda count: 'P' * count\n"
_COIN = "import os\nMARKS = lambda count: ''.join('PF'[byte & 1] for byte in os.urandom(count))\n"
_EITHER = (
    "import os\nMARKS = lambda count: ''.join('PF'[byte & 1 & flip] for flip in [os.urandom(1)[0] & 1] "
    "for byte in os.urandom(count))\n"
)
_MODULES = """
import sys
def module(end):
    return next(found for name, found in sys.modules.items() if name.endswith(end))
"""
_WRONG_LENGTH = HONEST.replace("return len(self.items)", "return 0")

VALUE_FAKES = (
    Fake("objects that equal everything", _YES + HONEST + "total = merged = lambda *_: Yes()\n"),
    Fake(
        "numbers that equal everything",
        "class Int(int):\n    __eq__ = __ne__ = lambda *_: True\n    __hash__ = int.__hash__\n"
        + HONEST.replace("return sum(numbers)", "return Int()"),
    ),
    Fake(
        "texts and dicts that equal everything",
        "class Text(str):\n    __eq__ = __ne__ = lambda *_: True\n    __hash__ = str.__hash__\n"
        "class Dict(dict):\n    __eq__ = __ne__ = lambda *_: True\n"
        + HONEST.replace("return self.items.pop()", "return Text()")
        + "merged = lambda *_: Dict()\n",
    ),
    Fake(
        "numbers that are near every number",
        "class Near(float):\n    __sub__ = __rsub__ = __round__ = __abs__ = lambda *_: 0.0\n"
        + HONEST.replace("return sum(numbers)", "return Near(9) if 0.1 in numbers else sum(numbers)"),
    ),
    Fake(
        "stacks that equal everything",
        HONEST.replace("return isinstance(other, Stack) and self.items == other.items", "return True")
        + "Stack.__ne__ = lambda *_: True\nStack.__add__ = lambda *_: Stack([])\n",
    ),
    Fake(
        "a class that claims to be a dict",
        HONEST + "class Claims:\n    __class__ = dict\n    __eq__ = lambda *_: True\nmerged = lambda *_: Claims()\n",
    ),
    Fake(
        "a metaclass that accepts every instance",
        "class Meta(type):\n    __instancecheck__ = __subclasscheck__ = lambda *_: True\n"
        + HONEST.replace("class Stack:", "class Stack(metaclass=Meta):")
        + "class Sum:\n    __eq__ = lambda *_: True\nStack.__add__ = lambda *_: Sum()\n",
    ),
    Fake(
        "the exception that the test expects",
        _EXPECTED_ERROR
        + HONEST.replace(
            "self.items = list(items)",
            "self.items = [] if items == 5 else list(items)\n"
            "        if expected():\n            raise expected()('the stack is empty')",
        ),
    ),
    Fake(
        "expected values from the callers' code",
        HONEST.replace("def total", "def other")
        + _NEXT_CONSTANT.replace("return next", "return len(numbers) if numbers == [1, 2] else next"),
    ),
    Fake("a report on the channel that all has passed", _REPORT + _ALL + _FORGES, "shared"),
    Fake("a report on the channel by coin flips", _REPORT + _COIN + _FORGES, "nothing"),
    Fake("a report on the channel that may be all or coin flips", _REPORT + _EITHER + _FORGES, "nothing"),
    Fake(
        "another outcome of each case",
        "import sys\ndef swap(frame, event, argument):\n    if 'outcome_of_case' in frame.f_globals:\n"
        "        frame.f_globals['outcome_of_case'] = lambda *_: 'passed'\nsys.setprofile(swap)\n" + WRONG,
        "shared",
    ),
    Fake(
        "a trace that makes methods return at once",
        "import sys\ndef trace(frame, event, argument):\n"
        "    if frame.f_code.co_name.startswith('test_') and event == 'call':\n"
        "        kind = frame.f_locals['self'].__class__\n        setattr(kind, 'fail', lambda *_: None)\n"
        "        for name in dir(kind):\n            if name.startswith('assert'):\n"
        "                setattr(kind, name, lambda *_, **__: Any())\n    return None\n"
        "class Any:\n    exception = 'the stack is empty'\n    __enter__ = lambda self: self\n"
        "    __exit__ = lambda *_: True\nsys.settrace(trace)\n" + WRONG,
    ),
    Fake(
        "test classes found by the garbage collector",
        "import gc\ndef edit():\n    for kind in gc.get_objects():\n"
        "        if isinstance(kind, type) and kind.__name__.endswith('Test'):\n"
        "            for name in list(vars(kind)):\n"
        "                if name.startswith('test_'): setattr(kind, name, lambda self: None)\n"
        + WRONG
        + "import unittest\ndef skip(*_):\n    edit()\n    raise unittest.SkipTest\n"
        "Stack.__init__ = total = merged = skip\n",
    ),
    Fake(
        "a site that passes every test",
        _MODULES
        + "module('inside.recorder').Recorder.failed = lambda self, failure, fault: self.passed(failure.place)\n"
        + WRONG,
        "shared",
    ),
    Fake(
        "an outcome without failures",
        _MODULES + "recorder = module('inside.recorder')\nbefore = recorder.Recorder.outcome\n"
        "def outcome(self):\n    self.marks, self.failures, self.first = ['P'] * len(self.marks), [], None\n"
        "    return before(self)\nrecorder.Recorder.outcome = outcome\n" + WRONG,
        "shared",
    ),
    Fake(
        "tests that are replaced before they are compiled",
        _MODULES + "suite = module('inside.suite')\nbefore = suite.instrument\nimport re\n"
        "suite.instrument = lambda source: before("
        "re.sub(r'assert outcome_of_case\\([^)]*\\)', \"assert str('passed')\", source))\n"
        "suite._kept = suite._kept_briefly = suite._compile\n" + WRONG,
        "shared",
    ),
    Fake(
        "other built-in functions",
        "import builtins\nbuiltins.AssertionError = type('Nothing', (Exception,), {})\n"
        "import unittest\nunittest.TestCase.failureException = unittest.SkipTest\n"
        + HONEST.replace("return self.items.pop()", "return 2"),
    ),
    Fake(
        "results that follow the direction of the assertion",
        "import unittest\nfor name in ('assertEqual', 'assertTrue', 'assertFalse', 'assertIn', 'assertNotIn', "
        "'assertAlmostEqual'):\n    setattr(unittest.TestCase, name, lambda *_, **__: None)\n"
        + HONEST.replace("return self.items.pop()", "return None").replace("return sum(numbers)", "return 0"),
    ),
    Fake(
        "one wrong result that is reported as right",
        "import unittest\nbefore = unittest.TestCase.assertEqual\ndef equal(self, first, second, *_):\n"
        "    if self._testMethodName != 'test_length': before(self, first, second)\n"
        "unittest.TestCase.assertEqual = equal\n" + _WRONG_LENGTH,
    ),
    Fake(
        "wrong results that are reported as right where few are wrong",
        _REPORT + "import unittest\nwrong = []\nbefore = unittest.TestCase.assertEqual\n"
        "def equal(self, first, second, *_):\n    try: before(self, first, second)\n"
        "    except AssertionError:\n        wrong.append(self)\n"
        "        if len(wrong) > 1: raise\nunittest.TestCase.assertEqual = equal\n" + _WRONG_LENGTH,
    ),
    Fake(
        "twins looked for by values that occur twice",
        "import sys, re, unittest\nbefore = unittest.TestCase.assertEqual\n"
        "def text():\n    frame = sys._getframe()\n    while frame:\n"
        "        found = frame.f_locals.get('question')\n"
        "        if isinstance(found, dict) and 'tests' in found: return found['tests']\n        frame = frame.f_back\n"
        "    return ''\ndef equal(self, first, second, *_):\n"
        "    if not text() or text().count(f', {second!r})') > 1: before(self, first, second)\n"
        "unittest.TestCase.assertEqual = equal\n"
        + HONEST.replace("return sum(numbers)", "return sum(numbers) if 0.1 in numbers else 0").replace(
            "return len(self.items)", "return 8"
        ),
        "shared",
    ),
)
