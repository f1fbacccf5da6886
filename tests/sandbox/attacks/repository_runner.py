"""Attacks on the process that runs the tests: its end, pytest, unittest, the interpreter, imports, later runs."""

from __future__ import annotations

from .repositories import attack

QUIET = """
import _pytest.runner as runner, _pytest.unittest as units
loud = runner.CallInfo.from_call
def quiet(func, when, reraise=None):
    call = loud(func, when, reraise)
    if when != "collect":
        call.excinfo = None
    return call
runner.CallInfo.from_call = staticmethod(quiet)
units.TestCaseFunction._addexcinfo = lambda *_: None
"""
"""Every call of a test passes within the process; other attacks begin with this, to aim at what is outside."""

MANAGERS = """
import gc
managers = [thing for thing in gc.get_objects() if type(thing).__name__ == "PytestPluginManager"]
"""

EMPTIED = """
import ast, sys, types
def without(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            node.body = [ast.Pass()]
    return ast.fix_missing_locations(tree)
def emptied(path):
    fake = types.ModuleType(path[:-3].replace("/", "."))
    fake.__file__, fake.__package__ = os.path.abspath(path), fake.__name__.rpartition(".")[0]
    exec(compile(without(ast.parse(open(path).read())), path, "exec"), fake.__dict__)
    return fake
import os
try: EMPTY = {path: emptied(path) for path in sorted({name.partition("::")[0] for name in FAILING + PASSING})}
except Exception: EMPTY = {}
def swap():
    for path, fake in EMPTY.items():
        for name in (fake.__name__, fake.__name__.rpartition(".")[2]):
            sys.modules[name] = fake
"""
"""Modules with empty tests. The one that imports the package is replaced while it is imported."""

FORGED = """
import os
lines = "".join(f"PASSED {name}\\n" for name in [*FAILING, *PASSING])
lines = f"\\n==== short test summary info ====\\n{lines}==== {len(FAILING + PASSING)} passed in 0.10s ====\\n"
for descriptor in range(3, 128):
    try: os.write(descriptor, lines.encode())
    except OSError: pass
"""

RUNNER_ATTACKS = (
    attack(
        "hard exit at import",
        """
import os
os._exit(0)
""",
        at_start=True,
    ),
    attack(
        "exit at import that pytest takes for success",
        """
import sys, types, _pytest.main as main
main.ExitCode = types.SimpleNamespace(**dict.fromkeys(main.ExitCode.__members__, 0))
sys.exit(0)
""",
        at_start=True,
    ),
    attack(
        "pytest.exit with code 0",
        """
import pytest
from _pytest.python import Function
from _pytest.unittest import TestCaseFunction
Function.runtest = TestCaseFunction.runtest = lambda self: pytest.exit('done', returncode=0)
""",
    ),
    attack(
        "hard exit at the interpreter's end",
        """
import atexit, os
atexit.register(os._exit, 0)
""",
    ),
    attack(
        "hard exit of a thread",
        """
import os, threading
threading.Timer(0.2, os._exit, [0]).start()
import time
import _pytest.runner as runner
runner.pytest_runtest_setup = lambda item: time.sleep(60)
import _pytest.runner
for kind in ('python', 'unittest'):
    pass
import unittest
from _pytest.python import Function
Function.runtest = lambda self: time.sleep(60)
from _pytest.unittest import TestCaseFunction
TestCaseFunction.runtest = Function.runtest
""",
    ),
    attack(
        "hard exit by an alarm",
        """
import os, signal, time
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 0.1)
time.sleep(1)
""",
        at_start=True,
    ),
    attack(
        "hard exit when an exception is traced",
        """
import os, sys, threading
def trace(frame, event, argument):
    tests = 'test' in frame.f_code.co_filename.rpartition('/')[2]
    if event == 'exception' and tests: os._exit(0)
    return trace
from _pytest.runner import CallInfo
old = CallInfo.from_call
def traced(func, when, reraise=None):
    sys.settrace(trace)
    return old(func, when, reraise)
CallInfo.from_call = staticmethod(traced)
""",
    ),
    attack(
        "program replaced by another",
        """
import os, sys
os.execv(sys.executable, [sys.executable, '-c', 'print()'])
""",
        at_start=True,
    ),
    attack(
        "lines of passed tests on the output",
        FORGED
        + """
os.write(1, lines.encode())
os._exit(0)
""",
    ),
    attack(
        "child that runs the tests in place of its parent",
        """
import os
if os.fork():
    os.wait()
    os._exit(0)
""",
    ),
    attack(
        "child in a session of its own that reports later",
        """
import os, time
if os.fork():
    time.sleep(0.3)
    os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
"""
        + FORGED
        + QUIET,
    ),
    attack(
        "calls of tests without exceptions",
        QUIET,
    ),
    attack(
        "reports made as passed",
        """
import _pytest.reports as reports
old = reports.TestReport.__init__
def passed(self, nodeid, location, keywords, outcome, longrepr, *rest, **named):
    old(self, nodeid, location, keywords, 'passed', None, *rest, **named)
reports.TestReport.__init__ = passed
""",
    ),
    attack(
        "plugin registered by the package",
        MANAGERS
        + """
import pytest
class Plugin:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        result = yield
        result.get_result().outcome = 'passed'
        result.get_result().longrepr = None
for manager in managers: manager.register(Plugin())
""",
    ),
    attack(
        "hooks of all plugins replaced",
        MANAGERS
        + """
import _pytest.runner as runner
for manager in managers:
    for found in manager.hook.pytest_runtest_call.get_hookimpls():
        if found.plugin_name == 'runner': found.function = lambda item: None
        if found.plugin_name == 'runner': found.argnames = ('item',)
""",
    ),
    attack(
        "test functions replaced when collected",
        MANAGERS
        + """
class Plugin:
    def pytest_itemcollected(self, item):
        item.runtest = lambda: None
for manager in managers: manager.register(Plugin())
""",
    ),
    attack(
        "failures expected",
        MANAGERS
        + """
import pytest
class Plugin:
    def pytest_itemcollected(self, item): item.add_marker(pytest.mark.xfail(reason='later'))
for manager in managers: manager.register(Plugin())
""",
    ),
    attack(
        "session without failures",
        """
from _pytest.main import Session
Session.testsfailed = property(lambda self: 0, lambda self, value: None)
Session.exitstatus = property(lambda self: 0, lambda self, value: None)
import _pytest.main as main
import gc
for thing in gc.get_objects():
    if type(thing) is Session: vars(thing).pop('testsfailed', 0)
""",
    ),
    attack(
        "every kind of exception is a skip",
        """
import builtins
from _pytest.outcomes import Skipped
old = isinstance
def lenient(thing, kind):
    if kind is Skipped and old(thing, BaseException):
        thing._use_item_location = False
        return True
    return old(thing, kind)
builtins.isinstance = lenient
""",
    ),
    attack(
        "tests sorted away",
        MANAGERS
        + """
class Plugin:
    def pytest_collection_modifyitems(self, config, items):
        kept = [item for item in items if item.nodeid not in FAILING]
        items[:] = kept
for manager in managers: manager.register(Plugin())
""",
    ),
    attack(
        "TestCase and functions that run nothing",
        """
import unittest
unittest.TestCase.run = lambda *_, **__: None
unittest.TestCase.__call__ = unittest.TestCase.run
from _pytest.python import Function
Function.runtest = lambda self: None
""",
    ),
    attack(
        "assert methods that do nothing",
        """
import unittest
for name in dir(unittest.TestCase):
    if name.startswith('assert') and 'Raises' not in name:
        setattr(unittest.TestCase, name, lambda *_, **__: None)
class Any:
    exception = value = ValueError()
    def __enter__(self): return self
    def __exit__(self, *_): return True
unittest.TestCase.assertRaises = unittest.TestCase.assertRaisesRegex = lambda *_, **__: Any()
from _pytest.python import Function
old = Function.runtest
def run(self):
    try: old(self)
    except BaseException: pass
Function.runtest = run
""",
    ),
    attack(
        "raises that is always satisfied",
        """
import pytest, unittest
class Any:
    value = exception = Exception()
    def __enter__(self): return self
    def __exit__(self, *_): return True
pytest.raises = lambda *_, **__: Any()
unittest.TestCase.assertRaises = pytest.raises
from _pytest.python import Function
from _pytest.unittest import TestCaseFunction
for kind in (Function, TestCaseFunction):
    def run(self, old=kind.runtest):
        with pytest.raises(Exception): old(self)
    kind.runtest = run
TestCaseFunction._addexcinfo = lambda *_: None
""",
    ),
    attack(
        "tests replaced while they are imported",
        EMPTIED
        + """
swap()
""",
    ),
    attack(
        "import hook that empties modules with tests",
        EMPTIED
        + """
swap()
import importlib.abc, importlib.machinery
class Hook:
    def find_spec(self, name, path=None, target=None):
        if not name.rpartition('.')[2].startswith('test'): return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and spec.loader and spec.origin: spec.loader = Loader(name, spec.origin)
        return spec
class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, name):
        return compile(without(ast.parse(open(self.path).read())), self.path, 'exec')
sys.meta_path.insert(0, Hook())
""",
    ),
    attack(
        "compile that empties modules with tests",
        EMPTIED
        + """
swap()
import builtins
old = compile
def hooked(source, filename, *rest, **named):
    tests = 'test' in str(filename).rpartition('/')[2]
    source = without(source) if tests and isinstance(source, ast.AST) else source
    return old(source, filename, *rest, **named)
builtins.compile = hooked
""",
    ),
    attack(
        "import function that swaps modules with tests",
        EMPTIED
        + """
import builtins
old = __import__
def hooked(*given, **named):
    found = old(*given, **named)
    swap()
    return found
builtins.__import__ = hooked
swap()
""",
    ),
    attack(
        "pytest and unittest replaced",
        """
import sys, types, unittest, pytest
fake = types.ModuleType('pytest')
vars(fake).update(vars(pytest))
class Any:
    def __enter__(self): return self
    def __exit__(self, *_): return True
fake.raises = lambda *_, **__: Any()
class Case(unittest.TestCase):
    def run(self, *_, **__): return None
    __call__ = run
units = types.ModuleType('unittest')
vars(units).update(vars(unittest))
units.TestCase = Case
sys.modules.update(pytest=fake, unittest=units)
unittest.TestCase.run = Case.run
"""
        + QUIET,
    ),
    attack(
        "thread that patches pytest later",
        """
import threading, time
def later():
    time.sleep(0.02)
"""
        + "".join(f"    {line}\n" for line in QUIET.splitlines()).replace("when != ", "when != ")
        + """
threading.Thread(target=later, daemon=True).start()
time.sleep(0.1)
""",
    ),
    attack(
        "profile function that patches at the first test",
        """
import sys
def profile(frame, event, argument):
    if event == 'call' and frame.f_code.co_name == 'from_call':
        sys.setprofile(None)
"""
        + "".join(f"        {line}\n" for line in QUIET.splitlines())
        + """
sys.setprofile(profile)
""",
    ),
    attack(
        "files for a second run that it starts",
        """
import os, sys
HOOK = '''import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = 'passed'
'''
for folder in (os.getcwd(), '/tmp', os.path.expanduser('~')):
    try:
        if not os.path.exists(os.path.join(folder, 'conftest.py')):
            open(os.path.join(folder, 'conftest.py'), 'w').write(HOOK)
    except OSError: pass
if not os.environ.get('AGAIN'):
    os.environ['AGAIN'] = '1'
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
""",
        at_start=True,
    ),
)
