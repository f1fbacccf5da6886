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
    attack("hard exit at import", "import os\nos._exit(0)", at_start=True),
    attack("exit at import that pytest takes for success", "import sys, types, _pytest.main as main\n"
           "main.ExitCode = types.SimpleNamespace(**dict.fromkeys(main.ExitCode.__members__, 0))\nsys.exit(0)",
           at_start=True),
    attack("pytest.exit with code 0", "import pytest\nfrom _pytest.python import Function\n"
           "from _pytest.unittest import TestCaseFunction\n"
           "Function.runtest = TestCaseFunction.runtest = lambda self: pytest.exit('done', returncode=0)"),
    attack("hard exit at the interpreter's end", "import atexit, os\natexit.register(os._exit, 0)"),
    attack("hard exit of a thread", "import os, threading\nthreading.Timer(0.2, os._exit, [0]).start()\nimport time\n"
           "import _pytest.runner as runner\nrunner.pytest_runtest_setup = lambda item: time.sleep(60)\n"
           "import _pytest.runner\nfor kind in ('python', 'unittest'):\n    pass\nimport unittest\n"
           "from _pytest.python import Function\nFunction.runtest = lambda self: time.sleep(60)\n"
           "from _pytest.unittest import TestCaseFunction\nTestCaseFunction.runtest = Function.runtest"),
    attack("hard exit by an alarm", "import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(0))\n"
           "signal.setitimer(signal.ITIMER_REAL, 0.1)\ntime.sleep(1)", at_start=True),
    attack("hard exit when an exception is traced", "import os, sys, threading\ndef trace(frame, event, argument):\n"
           "    tests = 'test' in frame.f_code.co_filename.rpartition('/')[2]\n"
           "    if event == 'exception' and tests: os._exit(0)\n    return trace\n"
           "from _pytest.runner import CallInfo\nold = CallInfo.from_call\ndef traced(func, when, reraise=None):\n"
           "    sys.settrace(trace)\n    return old(func, when, reraise)\nCallInfo.from_call = staticmethod(traced)"),
    attack("program replaced by another", "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print()'])",
           at_start=True),
    attack("lines of passed tests on the output", FORGED + "os.write(1, lines.encode())\nos._exit(0)"),
    attack("child that runs the tests in place of its parent", "import os\nif os.fork():\n    os.wait()\n    os._exit(0)"),
    attack("child in a session of its own that reports later", "import os, time\nif os.fork():\n    time.sleep(0.3)\n"
           "    os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n" + FORGED + QUIET),
    attack("calls of tests without exceptions", QUIET),
    attack("reports made as passed", "import _pytest.reports as reports\nold = reports.TestReport.__init__\n"
           "def passed(self, nodeid, location, keywords, outcome, longrepr, *rest, **named):\n"
           "    old(self, nodeid, location, keywords, 'passed', None, *rest, **named)\n"
           "reports.TestReport.__init__ = passed"),
    attack("plugin registered by the package", MANAGERS + "import pytest\nclass Plugin:\n"
           "    @pytest.hookimpl(hookwrapper=True, tryfirst=True)\n    def pytest_runtest_makereport(self, item, call):\n"
           "        result = yield\n        result.get_result().outcome = 'passed'\n"
           "        result.get_result().longrepr = None\nfor manager in managers: manager.register(Plugin())"),
    attack("hooks of all plugins replaced", MANAGERS + "import _pytest.runner as runner\n"
           "for manager in managers:\n    for found in manager.hook.pytest_runtest_call.get_hookimpls():\n"
           "        if found.plugin_name == 'runner': found.function = lambda item: None\n"
           "        if found.plugin_name == 'runner': found.argnames = ('item',)"),
    attack("test functions replaced when collected", MANAGERS + "class Plugin:\n"
           "    def pytest_itemcollected(self, item):\n        item.runtest = lambda: None\n"
           "for manager in managers: manager.register(Plugin())"),
    attack("failures expected", MANAGERS + "import pytest\nclass Plugin:\n"
           "    def pytest_itemcollected(self, item): item.add_marker(pytest.mark.xfail(reason='later'))\n"
           "for manager in managers: manager.register(Plugin())"),
    attack("session without failures", "from _pytest.main import Session\n"
           "Session.testsfailed = property(lambda self: 0, lambda self, value: None)\n"
           "Session.exitstatus = property(lambda self: 0, lambda self, value: None)\n"
           "import _pytest.main as main\nimport gc\nfor thing in gc.get_objects():\n"
           "    if type(thing) is Session: vars(thing).pop('testsfailed', 0)"),
    attack("every kind of exception is a skip", "import builtins\nfrom _pytest.outcomes import Skipped\nold = isinstance\n"
           "def lenient(thing, kind):\n    if kind is Skipped and old(thing, BaseException):\n"
           "        thing._use_item_location = False\n        return True\n    return old(thing, kind)\n"
           "builtins.isinstance = lenient"),
    attack("tests sorted away", MANAGERS + "class Plugin:\n"
           "    def pytest_collection_modifyitems(self, config, items):\n"
           "        kept = [item for item in items if item.nodeid not in FAILING]\n        items[:] = kept\n"
           "for manager in managers: manager.register(Plugin())"),
    attack("TestCase and functions that run nothing", "import unittest\nunittest.TestCase.run = lambda *_, **__: None\n"
           "unittest.TestCase.__call__ = unittest.TestCase.run\nfrom _pytest.python import Function\n"
           "Function.runtest = lambda self: None"),
    attack("assert methods that do nothing", "import unittest\nfor name in dir(unittest.TestCase):\n"
           "    if name.startswith('assert') and 'Raises' not in name:\n"
           "        setattr(unittest.TestCase, name, lambda *_, **__: None)\n"
           "class Any:\n    exception = value = ValueError()\n    def __enter__(self): return self\n"
           "    def __exit__(self, *_): return True\n"
           "unittest.TestCase.assertRaises = unittest.TestCase.assertRaisesRegex = lambda *_, **__: Any()\n"
           "from _pytest.python import Function\nold = Function.runtest\ndef run(self):\n    try: old(self)\n"
           "    except BaseException: pass\nFunction.runtest = run"),
    attack("raises that is always satisfied", "import pytest, unittest\nclass Any:\n    value = exception = Exception()\n"
           "    def __enter__(self): return self\n    def __exit__(self, *_): return True\n"
           "pytest.raises = lambda *_, **__: Any()\nunittest.TestCase.assertRaises = pytest.raises\n"
           "from _pytest.python import Function\nfrom _pytest.unittest import TestCaseFunction\n"
           "for kind in (Function, TestCaseFunction):\n    def run(self, old=kind.runtest):\n"
           "        with pytest.raises(Exception): old(self)\n    kind.runtest = run\n"
           "TestCaseFunction._addexcinfo = lambda *_: None"),
    attack("tests replaced while they are imported", EMPTIED + "swap()"),
    attack("import hook that empties modules with tests", EMPTIED + "swap()\n"
           "import importlib.abc, importlib.machinery\nclass Hook:\n    def find_spec(self, name, path=None, target=None):\n"
           "        if not name.rpartition('.')[2].startswith('test'): return None\n"
           "        spec = importlib.machinery.PathFinder.find_spec(name, path, target)\n"
           "        if spec and spec.loader and spec.origin: spec.loader = Loader(name, spec.origin)\n        return spec\n"
           "class Loader(importlib.machinery.SourceFileLoader):\n    def get_code(self, name):\n"
           "        return compile(without(ast.parse(open(self.path).read())), self.path, 'exec')\n"
           "sys.meta_path.insert(0, Hook())"),
    attack("compile that empties modules with tests", EMPTIED + "swap()\n"
           "import builtins\nold = compile\ndef hooked(source, filename, *rest, **named):\n"
           "    tests = 'test' in str(filename).rpartition('/')[2]\n"
           "    source = without(source) if tests and isinstance(source, ast.AST) else source\n"
           "    return old(source, filename, *rest, **named)\nbuiltins.compile = hooked"),
    attack("import function that swaps modules with tests", EMPTIED + "import builtins\nold = __import__\n"
           "def hooked(*given, **named):\n    found = old(*given, **named)\n    swap()\n    return found\n"
           "builtins.__import__ = hooked\nswap()"),
    attack("pytest and unittest replaced", "import sys, types, unittest, pytest\nfake = types.ModuleType('pytest')\n"
           "vars(fake).update(vars(pytest))\nclass Any:\n    def __enter__(self): return self\n"
           "    def __exit__(self, *_): return True\nfake.raises = lambda *_, **__: Any()\n"
           "class Case(unittest.TestCase):\n    def run(self, *_, **__): return None\n    __call__ = run\n"
           "units = types.ModuleType('unittest')\nvars(units).update(vars(unittest))\nunits.TestCase = Case\n"
           "sys.modules.update(pytest=fake, unittest=units)\nunittest.TestCase.run = Case.run\n" + QUIET),
    attack("thread that patches pytest later", "import threading, time\ndef later():\n    time.sleep(0.02)\n" +
           "".join(f"    {line}\n" for line in QUIET.splitlines()).replace("when != ", "when != ") +
           "threading.Thread(target=later, daemon=True).start()\ntime.sleep(0.1)"),
    attack("profile function that patches at the first test", "import sys\ndef profile(frame, event, argument):\n"
           "    if event == 'call' and frame.f_code.co_name == 'from_call':\n        sys.setprofile(None)\n" +
           "".join(f"        {line}\n" for line in QUIET.splitlines()) + "sys.setprofile(profile)\n"),
    attack("files for a second run that it starts", "import os, sys\nHOOK = '''import pytest\n@pytest.hookimpl("
           "hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n"
           "    outcome.get_result().outcome = 'passed'\n'''\nfor folder in (os.getcwd(), '/tmp', os.path.expanduser('~')):\n"
           "    try:\n        if not os.path.exists(os.path.join(folder, 'conftest.py')):\n"
           "            open(os.path.join(folder, 'conftest.py'), 'w').write(HOOK)\n    except OSError: pass\n"
           "if not os.environ.get('AGAIN'):\n    os.environ['AGAIN'] = '1'\n"
           "    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])", at_start=True),
)
