"""Records the calls that tests make of a function. This source runs in the sandbox, after the canonical solution.

So it imports nothing of koderz. The host computes the keys of plus inputs with the same functions.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

PER_TEXT = 20  # keys: a probe returns at most 500 characters per answer
_DIGITS = 16  # length of a key


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
    """The keys of the positional defaults, separated by blanks; then the keys of all calls, ``PER_TEXT`` per text.

    ``names`` are those of a program that passes the tests. Only the tests see the recorder instead of its function, so
    calls by the program itself are not recorded.
    """
    function, calls = names[entry_point], dict[str, None]()
    signature = inspect.signature(function)
    by_place = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    defaults = ["-" if parameter.default is parameter.empty else _key(parameter.default) for parameter in by_place]

    def recorder(*arguments: Any, **named: Any) -> Any:  # Any: the tests' arguments
        with suppress(TypeError):  # the function does not take these arguments
            bound = signature.bind(*arguments, **named)
            bound.apply_defaults()
            by_name = {name: value for name, value in bound.kwargs.items() if not _is_default(signature, name, value)}
            calls[key_of(bound.args, defaults, by_name)] = None
        return function(*arguments, **named)

    scope = {**names, "__name__": "tests", entry_point: recorder}
    exec(compile(tests, "<tests>", "exec", dont_inherit=True), scope)  # noqa: S102 (the point)
    scope["check"](recorder)
    keys = list(calls)
    return [" ".join(defaults), *("".join(keys[at : at + PER_TEXT]) for at in range(0, len(keys), PER_TEXT))]


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
