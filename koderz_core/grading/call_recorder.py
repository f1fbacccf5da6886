"""Which calls tests make of a function: this text runs in the sandbox, after the canonical solution.

So it imports nothing of koderz. The host makes the keys of plus inputs with the same functions.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

PER_TEXT = 20  # keys: a probe shows 500 characters of one answer
_DIGITS = 16  # of a key


def key_of(arguments: Sequence[object], defaults: Sequence[str], named: Mapping[str, object] | None = None) -> str:
    """The same for calls that pass equal values, written out or left to ``defaults`` (a key per place, "-" for none).

    Equal are 1, 1.0 and True, and a list and a tuple of equal items.
    """
    keys = list(map(_key, arguments))
    while keys and len(keys) <= len(defaults) and keys[-1] == defaults[len(keys) - 1]:
        keys.pop()
    return _hashed(", ".join([*keys, *(f"{name}={_key(value)}" for name, value in sorted((named or {}).items()))]))


def recorded(tests: str, entry_point: str, names: Mapping[str, Any]) -> list[str]:  # Any: a module's names
    """The keys of the defaults by place, parted by blanks; then those of all calls, ``PER_TEXT`` in each text.

    ``names``: those of a program that passes the tests. The tests see its function replaced; the program itself does
    not, so its own calls are not recorded.
    """
    function, found = names[entry_point], dict[str, None]()
    signature = inspect.signature(function)
    by_place = [
        parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    defaults = ["-" if parameter.default is parameter.empty else _key(parameter.default) for parameter in by_place]

    def recorder(*given: Any, **named: Any) -> Any:  # Any: whatever the tests pass
        with suppress(TypeError):  # what the function refuses is no input of it
            passed = signature.bind(*given, **named)
            passed.apply_defaults()
            by_name = {name: one for name, one in passed.kwargs.items() if not _is_default(signature, name, one)}
            found[key_of(passed.args, defaults, by_name)] = None
        return function(*given, **named)

    scope = {**names, "__name__": "tests", entry_point: recorder}
    exec(compile(tests, "<tests>", "exec", dont_inherit=True), scope)  # noqa: S102 (the point)
    scope["check"](recorder)
    keys = list(found)
    return [" ".join(defaults), *("".join(keys[at : at + PER_TEXT]) for at in range(0, len(keys), PER_TEXT))]


def keys_in(text: str) -> list[str]:
    """The keys of one text of ``recorded`` but the first."""
    return [text[at : at + _DIGITS] for at in range(0, len(text), _DIGITS)]


def _is_default(signature: inspect.Signature, name: str, value: object) -> bool:
    parameter = signature.parameters.get(name)
    return parameter is not None and parameter.default is not parameter.empty and _key(parameter.default) == _key(value)


def _key(value: object) -> str:
    return _hashed(_text(value))


def _text(value: Any) -> str:  # Any: as above
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, dict):
        return f"dict({', '.join(sorted(f'{_text(key)}: {_text(one)}' for key, one in value.items()))})"
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return hex(value) if isinstance(value, int) else repr(value)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
