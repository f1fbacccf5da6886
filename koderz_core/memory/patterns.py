"""The pattern of a failure, which recurs on other problems, as a phrase from a fixed table.

No word of an error message is kept: its names, values and texts may reveal the problem or its tests, and a program can
write any message. A failure that is not in the table is classified by its error class alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from koderz_core.prompts.programs import Reader
from koderz_core.records.steps import Lapse

MOST_CHARACTERS = 2000  # of a message that are read; longer values are not compared
WRONG = "a wrong answer"

ADVICE: Mapping[str, str] = {
    "NameError: a name is not defined": "Import what is used and define every name before its first use.",
    "UnboundLocalError: a variable has no value yet": "Give every variable a value on all paths before it is read.",
    "IndexError: an index is out of range": "Hold every index against the length, and think of short and empty input.",
    "IndexError: pop from an empty list": "Look whether something is left before it is taken away.",
    "KeyError": "Look whether a key is there, or read it with a default.",
    "ValueError: not a number": "Look whether a text is a number before it is converted.",
    "ValueError: the least or greatest of nothing": "Empty input has no least or greatest: answer it first.",
    "ValueError: too many or too few values to unpack": "Unpack only what surely has as many parts.",
    "ValueError: something is not in the collection": "Look whether it is there before it is looked up or removed.",
    "ValueError: outside the domain of the function": "Handle negative numbers and zero before such a function.",
    "TypeError: None is used as a value": "Something returned or held nothing: return on all paths.",
    "TypeError: types that do not go together": "Convert both sides to the same type first.",
    "TypeError: wrong number of arguments": "Keep the signature as given, and pass as many arguments as it takes.",
    "TypeError: not callable": "A variable hides a function of the same name: rename the variable.",
    "TypeError: not iterable or without parts": "A single value is treated as a collection: look at its type.",
    "TypeError: not hashable": "Lists cannot be keys or members of a set: turn them into tuples.",
    "TypeError: indices must be whole numbers": "Use whole-number division for indices, and convert floats.",
    "AttributeError": "The type has no such method: look which type the value is of.",
    "ZeroDivisionError": "Look whether the divisor can be zero, as with empty input.",
    "RecursionError": "Give the recursion a case where it ends, or use a loop.",
    "ImportError": "Use the standard library only, and the names that its modules really have.",
    "IndentationError": "Indent all lines of a block alike.",
    "SyntaxError": "Write complete Python, with all brackets and quotes closed.",
    f"{WRONG}: None": "Every path has to return its result.",
    f"{WRONG}: another type": "Return exactly the type that the problem asks for.",
    f"{WRONG}: right elements in another order": "Keep or make the order that is asked for, also among equals.",
    f"{WRONG}: too many elements": "Look at what has to be left out, such as repetitions and the ends of ranges.",
    f"{WRONG}: too few elements": "Look at what is passed over, such as the last element and the ends of ranges.",
    f"{WRONG}: off by one": "Look at the ends of ranges, and at whether comparisons are strict.",
    f"{WRONG}: another number": "Work one example through by hand, step by step.",
    f"{WRONG}: the opposite": "Look at what each condition means, and at the cases where it just holds.",
    f"{WRONG}: nothing where something was asked for": "Look at the condition that lets nothing through.",
    f"{WRONG}: another text": "Look at spaces, separators, capital letters and the ends of the text.",
    WRONG: "Work one example through by hand, step by step.",
    "no program": "Give the whole function in one block of Python.",
    "too slow": "Find a way with fewer steps, and see that every loop ends.",
    "too much memory": "Do not build what can be counted or computed piece by piece.",
    "forbidden": "Use no files, processes or network: only compute and return.",
    "cut short": "Answer in fewer words, the program first.",
    "refused": "Answer with the program alone.",
    "out of time": "Answer in fewer words, the program first.",
    "another error": "Read the message, and handle the input that leads to it.",
}
"""The usual remedy for each pattern."""

_MESSAGES: tuple[tuple[str, str], ...] = (
    (r"UnboundLocalError", "UnboundLocalError: a variable has no value yet"),
    (r"NameError", "NameError: a name is not defined"),
    (r"IndexError: pop from", "IndexError: pop from an empty list"),
    (r"IndexError", "IndexError: an index is out of range"),
    (r"KeyError", "KeyError"),
    (r"ValueError: (invalid literal for|could not convert)", "ValueError: not a number"),
    (r"ValueError: (max|min)\(\) (arg|iterable)", "ValueError: the least or greatest of nothing"),
    (r"ValueError: (too many|not enough) values", "ValueError: too many or too few values to unpack"),
    (r"ValueError: .*(not in|not found)", "ValueError: something is not in the collection"),
    (r"ValueError: (math domain|expected a nonneg)", "ValueError: outside the domain of the function"),
    (r"TypeError: .*NoneType", "TypeError: None is used as a value"),
    (r"TypeError: .*(unsupported operand|can only concatenate|not supported between)", ""),
    (r"TypeError: .*(positional argument|keyword argument|takes )", "TypeError: wrong number of arguments"),
    (r"TypeError: .*not callable", "TypeError: not callable"),
    (r"TypeError: .*(not iterable|not subscriptable|has no len)", "TypeError: not iterable or without parts"),
    (r"TypeError: .*(unhashable)", "TypeError: not hashable"),
    (r"TypeError: .*(indices must be|interpreted as an integer)", "TypeError: indices must be whole numbers"),
    (r"TypeError", ""),
    (r"AttributeError", "AttributeError"),
    (r"ZeroDivisionError", "ZeroDivisionError"),
    (r"RecursionError", "RecursionError"),
    (r"(ImportError|ModuleNotFoundError)", "ImportError"),
    (r"(IndentationError|TabError|indent)", "IndentationError"),
)
_OF_CLASS: Mapping[str, str] = {
    "assertion": WRONG,
    "syntax": "SyntaxError",
    "import": "ImportError",
    "name": "NameError: a name is not defined",
    "type": "TypeError: types that do not go together",
    "extraction": "no program",
    "timeout": "too slow",
    "memory": "too much memory",
    "forbidden": "forbidden",
    "truncated": "cut short",
    "refused": "refused",
    "turn_timeout": "out of time",
}


def pattern_of(lapse: Lapse) -> str:
    """The pattern of the failure: a key of ``ADVICE``."""
    if lapse.error == "assertion":
        return _wrong(lapse)
    message = lapse.message[:MOST_CHARACTERS]
    for expression, pattern in _MESSAGES if lapse.error in ("exception", "name", "type", "syntax", "import") else ():
        if re.match(rf"(line \d+: )?{expression}", message):
            return pattern or "TypeError: types that do not go together"
    return _OF_CLASS.get(lapse.error, "another error")


def _wrong(lapse: Lapse) -> str:
    """How an answer differs from the expected one."""
    shown = next(((failure.actual, failure.expected) for failure in lapse.failures), (None, None))
    got, right = (_value(text) for text in shown)
    if got is _UNKNOWN or right is _UNKNOWN:
        return WRONG
    kind = _difference(got, right)
    return f"{WRONG}: {kind}" if kind else WRONG


_UNKNOWN = object()


def _value(text: str | None) -> object:
    """The value of a ``repr``, if that is complete and holds plain data only."""
    program = None if text is None or len(text) > MOST_CHARACTERS else Reader().parse(text)
    if program is None or len(program.tree.body) != 1 or not isinstance(program.tree.body[0], ast.Expr):
        return _UNKNOWN
    try:
        return ast.literal_eval(program.tree.body[0].value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return _UNKNOWN


def _difference(got: object, right: object) -> str:
    if got is None or right is None:
        return "None" if got is None else ""
    if isinstance(got, bool) and isinstance(right, bool):
        return "the opposite"
    if isinstance(got, int | float) and isinstance(right, int | float) and bool not in (type(got), type(right)):
        return "off by one" if got in (right - 1, right + 1) else "another number"
    if type(got) is not type(right):
        return "another type"
    return _of_collections(got, right)


def _of_collections(got: object, right: object) -> str:
    if isinstance(got, str) and isinstance(right, str):
        return "another text" if got or not right else "nothing where something was asked for"
    if not (isinstance(got, list | tuple | set | dict) and isinstance(right, list | tuple | set | dict)):
        return ""
    if right and not got:
        return "nothing where something was asked for"
    if len(got) != len(right):
        return "too many elements" if len(got) > len(right) else "too few elements"
    return "right elements in another order" if sorted(map(repr, got)) == sorted(map(repr, right)) else ""
