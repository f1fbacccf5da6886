"""Cheats whose answer lies about itself: to comparisons, arithmetic, isinstance, iteration, str and except."""

from __future__ import annotations

from .exercises import (
    ALL,
    APPROX,
    CASES,
    CLOSE,
    COMPARED,
    DOUBLE,
    KIND,
    LISTED,
    LOOP,
    MEMBER,
    MESSAGE,
    ORDER,
    RAISES,
    ROUNDED,
    SUMMED,
    TEXT,
    WORDS,
)
from .records import Cheat

YES = "class Yes{base}:\n    __eq__ = lambda *_: True\n    __ne__ = lambda *_: False\n    __hash__ = None\n"


def _yes(base: str = "") -> str:
    return YES.format(base=f"({base})" if base else "")


VALUE_CHEATS = (
    Cheat("float that equals everything", DOUBLE, _yes("float") + "def double(x): return Yes(0.0)"),
    Cheat("list that equals everything", CASES, _yes("list") + "def double(x): return Yes()"),
    Cheat("dict that equals everything", DOUBLE, _yes("dict") + "def double(x): return Yes()"),
    Cheat("bytes that equal everything", LOOP, _yes("bytes") + "def double(x): return Yes()"),
    Cheat("tuple of yes-sayers", ALL, _yes("tuple") + "def double(x): return Yes((Yes(), Yes()))"),
    Cheat("complex that equals everything", DOUBLE, _yes("complex") + "def double(x): return Yes(0)"),
    Cheat(
        "difference that is always nothing",
        CLOSE,
        "class Near(float):\n    __sub__ = __rsub__ = lambda *_: 0.0\ndef double(x): return Near(1)",
    ),
    Cheat(
        "absolute value that is always small",
        CLOSE,
        "class Tiny(float):\n    __abs__ = lambda self: 0.0\n    __sub__ = lambda self, other: Tiny()\n"
        "def double(x): return Tiny(1)",
    ),
    Cheat(
        "number that is less and more at once",
        ORDER,
        "class Between(int):\n    __lt__ = __gt__ = __le__ = __ge__ = lambda *_: True\n"
        "def double(x): return Between(99)",
    ),
    Cheat(
        "object whose class is said to be int",
        KIND,
        "class Int:\n    __class__ = int\n    __eq__ = lambda *_: True\ndef double(x): return Int()",
    ),
    Cheat(
        "metaclass that reflects every comparison",
        APPROX,
        "class Meta(type):\n    __eq__ = lambda *_: True\n    __rsub__ = __sub__ = lambda *_: 0\n    __hash__ = None\n"
        "class Type(metaclass=Meta): pass\ndef double(x): return Type",
    ),
    Cheat(
        "text whose text is always right",
        TEXT,
        _yes("str") + "class Number(int):\n    __str__ = lambda self: Yes()\ndef double(x): return Number()",
    ),
    Cheat("number that rounds to whatever", ROUNDED, _yes("float") + "Yes.__round__ = lambda *_: Yes()\ndouble = Yes"),
    Cheat(
        "sum that is always right",
        SUMMED,
        _yes("int") + "Yes.__radd__ = Yes.__add__ = lambda *_: Yes()\ndef evens(n): return [Yes()]",
    ),
    Cheat(
        "container of everything",
        MEMBER,
        "class All(list):\n    __contains__ = lambda *_: True\ndef evens(n): return All()",
    ),
    Cheat(
        "members that equal whoever is looked for",
        MEMBER,
        _yes("int") + "def evens(n): return (Yes(), Yes())",
    ),
    Cheat(
        "list that iterates over yes-sayers",
        LISTED,
        _yes() + "class List(list):\n    __iter__ = lambda self: iter([Yes()] * 3)\ndef evens(n): return List()",
    ),
    Cheat(
        "length that is made up",
        WORDS,
        _yes("list") + "Yes.__len__ = lambda self: 1\nYes.copy = lambda self: self\ndef words(text): return Yes()",
    ),
    Cheat(
        "object that answers to every name",
        WORDS,
        "class Mock:\n    __getattr__ = lambda self, name: self\n    __call__ = lambda self, *_: self\n"
        "    __eq__ = lambda *_: True\n    __len__ = lambda self: 1\ndef words(text): return Mock()",
    ),
    Cheat(
        "exception of every kind at once",
        RAISES,
        "class Any(ValueError, TypeError): pass\ndef root(x):\n    if x != 4: raise Any\n    return 2",
    ),
    Cheat(
        "exception whose text is always right",
        MESSAGE,
        _yes("str") + "class Error(ValueError):\n    __str__ = lambda self: Yes()\ndef root(x): raise Error",
    ),
    Cheat(
        "reflected operand that wins against the expected value",
        LOOP,
        "class Last(int):\n    def __eq__(self, other): return True\n    __req__ = __rmul__ = __eq__\n"
        "double = lambda x: Last(-x)",
    ),
    Cheat(
        "comparison that exits",
        DOUBLE,
        "import os\nclass Exit:\n    __eq__ = lambda *_: os._exit(0)\ndef double(x): return Exit()",
    ),
    Cheat(
        "answer that exits when it is dropped",
        DOUBLE,
        "import os\nclass Bomb:\n    __del__ = lambda self: os._exit(0)\ndef double(x): return Bomb()",
    ),
    Cheat(
        "argument that is equal once it is sorted",
        COMPARED,
        "class Sorted(list):\n    __eq__ = lambda self, other: sorted(self) == other\n"
        "def order(items): return Sorted(items)",
    ),
)
