"""Small problems, one for each way in which tests use a function, and programs that solve none of them."""

from __future__ import annotations

EVEN = "def double(n):\n    return n % 2 == 0\n"
ORDER = "def double(items):\n    return sorted(items)\n"
EVEN_FORMS = {
    "map": ["assert all(map(candidate, [2, 4])) and not any(map(candidate, [1, 3]))"],
    "list of a map": ["assert list(map(candidate, [2, 3, 4])) == [True, False, True]"],
    "sum of a map": ["assert sum(map(candidate, range(6))) == 3"],
    "zip": ["for got, want in zip(map(candidate, [2, 3]), [True, False]):", "    assert got == want"],
    "zip in an assert": ["assert all(a == b for a, b in zip(map(candidate, [3, 2]), [False, True]))"],
    "filter": ["assert list(filter(candidate, range(6))) == [0, 2, 4]"],
    "comprehension": ["assert [n for n in range(6) if candidate(n)] == [0, 2, 4]"],
    "set and dict": [
        "assert {candidate(n) for n in range(4)} == {True, False}",
        "assert {n: candidate(n) for n in (2, 3)} == {2: True, 3: False}",
    ],
    "iter with a sentinel": [
        "numbers = iter([2, 4, 5, 6])",
        "assert all(iter(lambda: candidate(next(numbers)), False)) and next(numbers) in (5, 6)",
        "assert candidate(7) == False",
    ],
    "next with a default": ["assert next(map(candidate, [2]), True) and not next(map(candidate, [3]), False)"],
    "max with a default": [
        "assert max(map(candidate, [2, 1]), default=True) and not min(map(candidate, [2, 1]), default=False)"
    ],
    "reduce": [
        "from functools import reduce",
        "assert reduce(lambda a, b: a and b, map(candidate, [2, 4]), True)",
        "assert not reduce(lambda a, b: a or b, map(candidate, [1, 3]), False)",
    ],
    "key": ["assert sorted(range(4), key=candidate) == [1, 3, 0, 2]"],
    "dict.get": [
        "names = {True: 'even', False: 'odd'}",
        "assert names.get(candidate(2)) + names.get(candidate(3)) == 'evenodd'",
    ],
    "itertools": [
        "from itertools import dropwhile, filterfalse, starmap, takewhile",
        "assert list(takewhile(candidate, [2, 4, 5])) == [2, 4] and list(dropwhile(candidate, [2, 5])) == [5]",
        "assert not any(starmap(candidate, [(1,)])) and not list(filterfalse(candidate, [2]))",
    ],
    "delegation": [
        "def each(*numbers): yield from map(candidate, numbers)",
        "assert all(each(2, 4)) and not any(each(1, 3))",
    ],
    "suppress": [
        "from contextlib import suppress",
        "seen = []",
        "with suppress(ValueError, LookupError): seen += map(candidate, [2, 3])",
        "assert seen == [True, False]",
    ],
    "try": [
        "try: odd = list(map(candidate, [1, 2]))",
        "except (AssertionError, ValueError): odd = None",
        "assert odd == [False, True]",
    ],
    "unpacking": ["one, *others = map(candidate, [2, 3, 3])", "assert one == True and others == [False, False]"],
    "membership": ["assert True in list(map(candidate, [2, 3])) and True not in list(map(candidate, [1, 3]))"],
}
ORDER_FORMS = {
    "compared with its argument": ["a = [3, 1, 2]", "assert candidate(a) == sorted(a)"],
    "compared later": ["a = [3, 1, 2]", "got = candidate(a)", "assert got == sorted(a)"],
    "compared with what was made later": [
        "a = [3, 1, 2]",
        "got = candidate(a)",
        "want = sorted(a)",
        "assert got == want",
    ],
    "compared the other way round": ["a = [3, 1, 2]", "got = candidate(a)", "assert sorted(a) == got"],
    "compared in a generator": ["assert all(candidate(x) == sorted(x) for x in [[3, 1], [2, 1, 0]])"],
    "compared in a loop": ["for x in [[3, 1], [2, 1, 0]]: assert candidate(x) == sorted(x)"],
    "compared by a function": [
        "def same(x, y): assert x == y",
        "a = [3, 1, 2]",
        "same(candidate(a), sorted(a))",
    ],
    "compared by a function in an assert": [
        "a = [3, 1, 2]",
        "right = lambda x: sorted(x)",
        "assert candidate(a) == right(a)",
    ],
    "under another name": ["solve = candidate", "a = [3, 1, 2]", "assert solve(a) == sorted(a)"],
    "by a map": ["lists = [[3, 1], [2, 1]]", "assert list(map(candidate, lists)) == list(map(sorted, lists))"],
    "by a zip": [
        "lists = [[3, 1], [2, 1]]",
        "for got, given in zip(map(candidate, lists), lists, strict=True): assert got == sorted(given)",
    ],
    "by length and members": [
        "a = [3, 1, 2]",
        "got = candidate(a)",
        "assert len(got) == len(a) and set(got) == set(a)",
    ],
    "by a list": ["a = [3, 1, 2]", "assert list(candidate(a)) == sorted(a)"],
    "in a dict": ["a = {'items': [3, 1]}", "assert candidate(a['items']) == sorted(a['items'])"],
    "by a message": ["a = [3, 1, 2]", "assert candidate(a) == sorted(a), 'not sorted'"],
}
_LIAR = (
    "class Liar{base}:\n"
    "    __eq__ = __ge__ = __le__ = __lt__ = __gt__ = __contains__ = lambda *_: True\n"
    "    __ne__ = lambda *_: False\n"
    "    __hash__ = lambda self: 1\n"
    "    __bool__ = lambda self: True\n"
    "    __len__ = lambda self: 3\n"
    "    __iter__ = lambda self: iter([self] * 3)\n"
    "    __getitem__ = lambda self, at: self\n"
    "    __add__ = __radd__ = __call__ = __getattr__ = lambda self, *_: self\n"
    "def double(x):\n    return Liar()\n"
)


def _raises(what: str, before: str = "") -> str:
    return f"{before}\ndef double(x):\n    raise {what}\n"


def _returns(what: str, before: str = "") -> str:
    return f"{before}\ndef double(x):\n    return {what}\n"


STOPPING = {
    "stops": _raises("StopIteration"),
    "stops with a value": _raises("StopIteration(True)"),
    "stops by a class of its own": _raises("Stop", "class Stop(StopIteration): pass"),
    "stops by mistake": _returns("next(iter(()))"),
    "stops what is asynchronous": _raises("StopAsyncIteration"),
    "stops in a property": _returns(
        "Stops()", "class Stops:\n    __getattr__ = __bool__ = __len__ = lambda *_: next(iter(()))"
    ),
}
OTHERS = {
    "closes generators": _raises("GeneratorExit"),
    "exits": _raises("SystemExit"),
    "fails an assert": _raises("AssertionError"),
    "looks up what is not there": _raises("LookupError"),
    "names a wrong key": _raises("KeyError(x)"),
    "names a wrong index": _raises("IndexError"),
    "names a wrong value": _raises("ValueError"),
    "names a wrong type": _raises("TypeError"),
    "names a wrong attribute": _raises("AttributeError"),
    "is not implemented": _raises("NotImplementedError"),
    "is a generator": "def double(x):\n    yield True\n",
    "is a generator of nothing": "def double(x):\n    return True\n    yield\n",
    "counts without end": _returns("itertools.count()", "import itertools"),
    "repeats without end": _returns("itertools.repeat(True)", "import itertools"),
    "answers nothing": "def double(x):\n    pass\n",
    "answers what is not implemented": _returns("NotImplemented"),
    "answers that it is true": _returns("Liar()", "class Liar:\n    __bool__ = lambda self: True"),
    "answers a function": _returns("double"),
    "answers a class": _returns(
        "Liar",
        "class Kind(type):\n    __eq__ = lambda *_: True\n    __hash__ = None\nclass Liar(metaclass=Kind): pass",
    ),
    "lies as an object": _LIAR.format(base=""),
    "lies as a number": _LIAR.format(base="(int)"),
    "lies as a float": _LIAR.format(base="(float)"),
    "lies as a text": _LIAR.format(base="(str)"),
    "lies as a list": _LIAR.format(base="(list)"),
    "lies as a tuple": _LIAR.format(base="(tuple)"),
    "lies as a dict": _LIAR.format(base="(dict)"),
    "lies as a set": _LIAR.format(base="(set)"),
    "lies about its class": _returns("Liar()", "class Liar:\n    __class__ = bool\n    __eq__ = lambda *_: True"),
    "lies about being a list": _returns("Liar()", "class Liar:\n    __class__ = list\n    __eq__ = lambda *_: True"),
    "ends by its items": _returns("Empty()", "class Empty:\n    def __getitem__(self, at): raise IndexError"),
    "ends at once": _returns("iter(())"),
    "stops when it is iterated over": _returns("Empty()", "class Empty:\n    def __iter__(self): raise StopIteration"),
    "exits when it is compared": _returns("Exit()", "class Exit:\n    def __eq__(self, other): raise SystemExit"),
}
_RIGHT_ONCE = (
    "seen = []\ndef double(x):\n    seen.append(x)\n    if len(seen) > 1: raise StopIteration\n    return x % 2 == 0\n"
)
MUTATING = {
    "empties its argument": "def double(x):\n    x.clear()\n    return []\n",
    "empties and returns its argument": "def double(x):\n    del x[:]\n    return x\n",
    "fills its argument": "def double(x):\n    x[:] = [0]\n    return [0]\n",
    "uses its argument up": "def double(x):\n    while x: x.pop()\n    return list(x)\n",
    "makes all items alike": "def double(x):\n    x[:] = [1] * len(x)\n    return list(x)\n",
    "empties its argument and yields nothing": "def double(x):\n    x.clear()\n    yield from ()\n",
}

_FEW = 4  # each form meets a quarter of the others, so that all tests together take a few seconds
FORMS = EVEN_FORMS | ORDER_FORMS


def cheats(form: str) -> dict[str, str]:
    """Programs that do not solve the problem of a form: all that are made for it, and some of the others."""
    made = MUTATING if form in ORDER_FORMS else STOPPING | {"stops after one right answer": _RIGHT_ONCE}
    return made | {name: OTHERS[name] for name in list(OTHERS)[list(FORMS).index(form) % _FEW :: _FEW]}
