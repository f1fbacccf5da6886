"""Records the calls that tests make of a function. This source runs in the sandbox, after the canonical solution.

So it imports nothing of koderz. The host computes the keys of plus inputs with the same functions.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

PER_TEXT = 20  # keys: a probe returns at most 500 characters per answer
_DIGITS = 16  # length of a key
_TEXT, _MOST_ARGUMENTS = 400, 40_000  # characters; hexadecimal digits double the second


def key_of(arguments: Sequence[object], defaults: Sequence[str], named: Mapping[str, object] | None = None) -> str:
    """A key of a call's arguments: the same for calls that pass equal values, explicitly or by ``defaults``.

    ``defaults`` has one key per positional parameter, "-" for none. 1, 1.0 and True are equal, and so are a list and a
    tuple of equal items.
    """
    keys = list(map(_key, arguments))
    while keys and len(keys) <= len(defaults) and keys[-1] == defaults[len(keys) - 1]:
        keys.pop()
    return _hashed(", ".join([*keys, *(f"{name}={_key(value)}" for name, value in sorted((named or {}).items()))]))


def recorded(tests: str, entry_point: str, names: Mapping[str, Any]) -> list[str]:  # Any: a module's names
    """The keys of the positional defaults, separated by blanks; then the keys of all calls, ``PER_TEXT`` per text."""
    signature, calls = inspect.signature(names[entry_point]), dict[str, None]()
    by_place = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    defaults = ["-" if parameter.default is parameter.empty else _key(parameter.default) for parameter in by_place]

    def keep(bound: inspect.BoundArguments) -> None:
        by_name = {name: value for name, value in bound.kwargs.items() if not _is_default(signature, name, value)}
        calls[key_of(bound.args, defaults, by_name)] = None

    _run(tests, entry_point, names, keep)
    keys = list(calls)
    return [" ".join(defaults), *("".join(keys[at : at + PER_TEXT]) for at in range(0, len(keys), PER_TEXT))]


def arguments(tests: str, entry_point: str, names: Mapping[str, Any]) -> list[str]:  # Any: a module's names
    """The JSON of a list of all different calls, in hexadecimal texts of at most 400 characters.

    A call is its list of positional arguments; if that is not JSON, the reason as a text. Later calls are left out if
    all texts together would become longer than 80,000 characters.
    """
    calls = dict[str, None]()

    def keep(bound: inspect.BoundArguments) -> None:
        kinds = sorted({kind for value in (*bound.args, *bound.kwargs.values()) for kind in _not_json(value)})
        call = ", ".join(kinds) if kinds else "keyword-only arguments" if bound.kwargs else list(bound.args)
        text = json.dumps(call)
        if sum(map(len, calls)) + len(text) < _MOST_ARGUMENTS:
            calls[text] = None

    _run(tests, entry_point, names, keep)
    text = f"[{', '.join(calls)}]".encode().hex()
    return [text[at : at + _TEXT] for at in range(0, len(text), _TEXT)]


def _run(
    tests: str, entry_point: str, names: Mapping[str, Any], keep: Callable[[inspect.BoundArguments], None]
) -> None:
    """Run the tests and pass on the arguments of each call, with defaults.

    ``names`` are those of a program that passes the tests. Only the tests see the recorder instead of its function, so
    calls by the program itself are not recorded.
    """
    function = names[entry_point]
    signature = inspect.signature(function)

    def recorder(*arguments: Any, **named: Any) -> Any:  # Any: the tests' arguments
        with suppress(TypeError):  # the function does not take these arguments
            bound = signature.bind(*arguments, **named)
            bound.apply_defaults()
            keep(bound)
        return function(*arguments, **named)

    scope = {**names, "__name__": "tests", entry_point: recorder}
    exec(compile(tests, "<tests>", "exec", dont_inherit=True), scope)  # noqa: S102 (the point)
    scope["check"](recorder)


def _not_json(value: Any) -> list[str]:  # Any: an argument
    """The types in a value that JSON does not have."""
    kind = type(value)
    if kind is list:
        return [name for item in value for name in _not_json(item)]
    if kind is dict:
        return [
            name for key, item in value.items() for name in (*_not_json(item), *([] if type(key) is str else ["key"]))
        ]
    if kind is float and not math.isfinite(value):
        return [repr(value)]
    return [] if value is None or kind in (str, int, float, bool) else [kind.__name__]


def keys_in(text: str) -> list[str]:
    """The keys in one text of ``recorded``, except the first text."""
    return [text[at : at + _DIGITS] for at in range(0, len(text), _DIGITS)]


def _is_default(signature: inspect.Signature, name: str, value: object) -> bool:
    parameter = signature.parameters.get(name)
    return parameter is not None and parameter.default is not parameter.empty and _key(parameter.default) == _key(value)


def _key(value: object) -> str:
    return _hashed(_text(value))


def _text(value: Any) -> str:  # Any: an argument
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, dict):
        return f"dict({', '.join(sorted(f'{_text(key)}: {_text(item)}' for key, item in value.items()))})"
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return hex(value) if isinstance(value, int) else repr(value)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
