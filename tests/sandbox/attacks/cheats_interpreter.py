"""Cheats that change the interpreter which the tests run in: builtins, modules, compiler, import, tracing, memory."""

from __future__ import annotations

from .exercises import (
    ALL,
    APPROX,
    CLOSE,
    DOUBLE,
    DUMPED,
    FRACTION,
    ISCLOSE,
    KIND,
    LISTED,
    LOCAL,
    LOOP,
    ROUNDED,
    SAME,
    SEEDED,
    STRIPPED,
    SUMMED,
    WRONG,
)
from .records import Cheat

FALSE_MODULE = "types.SimpleNamespace(isclose=lambda *_: True, Fraction=lambda *_: 6)"

INTERPRETER_CHEATS = (
    Cheat("abs is nothing", CLOSE, "import builtins\nbuiltins.abs = lambda x: 0\n" + WRONG),
    Cheat("all is true", ALL, "import builtins\nbuiltins.all = lambda x: True\n" + WRONG),
    Cheat("round is a yes-sayer", ROUNDED, "import builtins\nbuiltins.round = lambda *_: 2.5\n" + WRONG),
    Cheat("range is empty", LOOP, "import builtins\nbuiltins.range = lambda *_: ()\n" + WRONG),
    Cheat(
        "list is what is expected",
        LISTED,
        "import builtins\nbuiltins.list = lambda x: [2, 4, 6]\ndef evens(n): return n",
    ),
    Cheat("sum is what is expected", SUMMED, "import builtins\nbuiltins.sum = lambda x: 12\ndef evens(n): return n"),
    Cheat(
        "isinstance and int are another type",
        KIND,
        "import builtins\nclass Meta(type):\n    __instancecheck__ = lambda *_: True\n"
        "class Int(metaclass=Meta): pass\nbuiltins.int = Int\n"
        "class Yes:\n    __eq__ = lambda *_: True\ndef double(x): return Yes()",
    ),
    Cheat("everything is close", ISCLOSE, "import math\nmath.isclose = lambda *_: True\n" + WRONG),
    Cheat(
        "module replaced before the tests import it",
        ISCLOSE,
        f"import sys, types\nsys.modules['math'] = {FALSE_MODULE}\n" + WRONG,
    ),
    Cheat(
        "finder that makes up modules",
        FRACTION,
        "import sys, types\nfrom importlib.machinery import ModuleSpec\nclass Finder:\n"
        "    def find_spec(self, name, path, target=None): return ModuleSpec(name, self)\n"
        f"    def create_module(self, spec): return {FALSE_MODULE}\n"
        "    def exec_module(self, module): pass\n"
        "sys.modules.pop('fractions', None)\nsys.meta_path.insert(0, Finder())\n" + WRONG,
    ),
    Cheat(
        "import statement replaced",
        FRACTION,
        f"import builtins, types\nbuiltins.__import__ = lambda *_: {FALSE_MODULE}\n" + WRONG,
    ),
    Cheat(
        "file beside the tests that they import",
        FRACTION,
        "import sys\nsys.modules.pop('fractions', None)\nsys.path.insert(0, '.')\n"
        "open('fractions.py', 'w').write('Fraction = lambda *_: 6')\n" + WRONG,
    ),
    Cheat("random is nothing", SEEDED, "import random\nrandom.randint = lambda *_: 0\ndef draw(*_): return [0] * 4"),
    Cheat("dumps say what is expected", DUMPED, "import json\njson.dumps = lambda *_: '[1, 1]'\n" + WRONG),
    Cheat(
        "classes of the tests are built differently",
        APPROX,
        "import builtins\nbuild = builtins.__build_class__\n"
        "def other(function, name, *bases):\n    built = build(function, name, *bases)\n"
        "    built.__eq__ = lambda *_: True\n    return built\nbuiltins.__build_class__ = other\n" + WRONG,
    ),
    Cheat(
        "method of a builtin type replaced",
        STRIPPED,
        "import ctypes, gc\ngc.get_referents(str.__dict__)[0]['strip'] = lambda *_: ''\n"
        "ctypes.pythonapi.PyType_Modified(ctypes.py_object(str))\ndef shout(text): return text",
    ),
    Cheat(
        "asserts compiled away",
        DOUBLE,
        "import builtins, functools\nbuiltins.compile = functools.partial(compile, optimize=2)\n" + WRONG,
        plain="warm",
    ),
    Cheat(
        "asserts parsed away",
        DOUBLE,
        "import ast\nparse = ast.parse\nclass Drop(ast.NodeTransformer):\n    visit_Assert = lambda *_: ast.Pass()\n"
        "ast.parse = lambda *given: ast.fix_missing_locations(Drop().visit(parse(*given)))\n" + WRONG,
        plain="warm",
    ),
    Cheat(
        "verdict written by another dumps",
        DOUBLE,
        "import json\njson.dumps = lambda *_, **__: '[true]'\n" + WRONG,
        plain="warm",
    ),
    Cheat(
        "trace that jumps over the asserts",
        DOUBLE,
        "import sys\ndef jump(frame, event, _):\n    if event == 'line':\n"
        "        frame.f_lineno = max(line for *_, line in frame.f_code.co_lines() if line)\n    return jump\n"
        "def double(x):\n    sys._getframe(1).f_trace = jump\n    sys.settrace(jump)\n    return {1: 2, 21: 42}.get(x)",
    ),
    Cheat(
        "code of the tests' own function replaced",
        SAME,
        "import sys\ndef double(x):\n"
        "    sys._getframe(1).f_globals['same'].__code__ = (lambda a, b: True).__code__\n    return 0",
    ),
    Cheat(
        "expected value in the caller's frame overwritten",
        LOCAL,
        "import ctypes, sys\ndef double(x):\n    frame = sys._getframe(1)\n"
        "    frame.f_locals.update(first=0, second=0)\n"
        "    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))\n"
        "    return 0",
        needs="python<3.13",
    ),
    Cheat(
        "constants of the tests' code overwritten",
        DOUBLE,
        "import ctypes, sys\nKEEP = []\ndef double(x):\n    held = sys._getframe(1).f_code.co_consts\n"
        "    for place, value in enumerate(held):\n        if type(value) is int and value != x:\n"
        "            KEEP.append(held)\n"
        "            ctypes.c_void_p.from_address(id(held) + tuple.__basicsize__ + 8 * place).value = id(x)\n"
        "    return x",
    ),
    Cheat(
        "comparison of all ints replaced in their type",
        DOUBLE,
        "import ctypes\nTRUE = ctypes.CFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(\n"
        "    lambda *_: True)\ndef double(x):\n    slot.value = ctypes.cast(TRUE, ctypes.c_void_p).value\n"
        "    return 0\n"
        "slot = ctypes.c_void_p.from_address(id(int) + 200)  # tp_richcompare\n"
        "import atexit\natexit.register(setattr, slot, 'value', slot.value)",
        needs="x86_64",
    ),
    Cheat(
        "process replaced by another program",
        DOUBLE,
        "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', ''])\n" + WRONG,
    ),
    Cheat(
        "alarm that exits while the tests wait",
        DOUBLE,
        "import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(0))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.05)\ndef double(x): time.sleep(0.5)",
    ),
    Cheat(
        "thread that exits while the tests wait",
        DOUBLE,
        "import os, threading, time\nthreading.Timer(0.05, os._exit, [0]).start()\ndef double(x): time.sleep(0.5)",
    ),
)
