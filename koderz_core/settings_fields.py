"""The definition of a setting, and the conversion of values that the user wrote."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import unquote

import msgspec

from koderz_core.errors import ConfigError
from koderz_core.otlp import header, secret_words

PROGRAMS = frozenset(
    {f"{prefix}{name}" for prefix in ("", "koderz_") for name in ("cortex_path", "cortex_command", "llama_server")}
)
"""Settings that name a program to start."""
NO_HOME = (
    "The file settings.toml is in the data folder, so it cannot set the path of this folder. "
    "Choose the folder with KODERZ_HOME or --data-dir."
)
"""Why settings.toml does not contain ``home``, and how to set it instead."""
SHORTEST_TOKEN = 16
SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n", "off"), False),
}


Whole = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
PerMinute = Annotated[float, msgspec.Meta(gt=0)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of one provider. None: only the provider itself limits calls.

    ``concurrency``: calls at the same time. The others: calls, and input plus output tokens, in any minute. A call
    under way counts with its maximum of tokens, a finished call with the tokens it used.
    """

    concurrency: Whole = 64
    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None


class SecretStr:
    """A text that is hidden when printed; ``get_secret_value`` returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def get_secret_value(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretStr) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "SecretStr('**********')"

    def __str__(self) -> str:
        return "**********"


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of the settings.

    ``names``: its names in settings.toml, in order of precedence; they are valid in the environment too if it is not
    ``prefixed``. ``most``, ``least`` and ``above`` limit a number. ``check`` returns the final value or raises
    ValueError. ``listed``: settings.toml may contain a list, which means its texts separated by spaces.
    """

    name: str
    annotation: Any  # Any: a type or a generic alias, which have no common type
    default: Any  # Any: a value, or a function without arguments that returns it
    description: str
    names: tuple[str, ...]
    prefixed: bool
    least: float | None = None
    above: float | None = None
    most: float | None = None
    check: Callable[[Any], Any] | None = None
    listed: bool = False

    @property
    def variable(self) -> str:
        """The environment variable of its first name."""
        return (f"koderz_{self.name}" if self.prefixed else self.name).upper()

    @property
    def secret(self) -> bool:
        return SecretStr in self.kinds

    @property
    def kinds(self) -> tuple[object, ...]:
        """The types of its values."""
        united = get_origin(self.annotation) in (Union, types.UnionType)
        return get_args(self.annotation) if united else (self.annotation,)

    def default_value(self) -> Any:  # Any: as ``default``
        """Its value if no source sets it."""
        return self.default() if callable(self.default) else self.default

    def parsed(self, value: object) -> Any:  # Any: a value of ``annotation``
        """The final value. Raises ValueError, which never quotes the value because it may be a secret."""
        if value is None and type(None) in self.kinds:
            return None
        if self.listed and isinstance(value, list):
            value = " ".join(map(_text, value))
        converted = _converted(value, self.kinds[0])
        self._check_bounds(converted)
        return self.check(converted) if self.check else converted

    def _check_bounds(self, value: object) -> None:
        bounds = {"at least": (self.least, float.__ge__), "more than": (self.above, float.__gt__)}
        for words, (bound, holds) in {**bounds, "at most": (self.most, float.__le__)}.items():
            if bound is not None and not (isinstance(value, int | float) and holds(float(value), float(bound))):
                raise ValueError(f"the value must be {words} {bound:,}")


def checked_token(token: SecretStr) -> SecretStr | None:
    """As ``key_of``, for a token that must be too long to guess."""
    key = key_of(token)
    if key and len(key.get_secret_value()) < SHORTEST_TOKEN:
        raise ValueError(
            f"a token has at least {SHORTEST_TOKEN} characters; to make one: "
            "python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return key


def checked_headers(headers: SecretStr) -> SecretStr | None:
    """As ``key_of``, for headers in the format of ``headers_in``."""
    return headers if headers_in(headers) else None


def headers_in(headers: SecretStr) -> dict[str, str]:
    """Headers ``NAME=VALUE``, separated by commas; in a value, %2C is a comma and %20 a space.

    Raises ValueError. Source: OTEL_EXPORTER_OTLP_HEADERS (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
    """
    parts = (part for part in headers.get_secret_value().split(",") if part.strip())
    return dict(header(unquote(part)) for part in parts)


def words_of(name: str, value: SecretStr) -> Iterable[str]:
    """The secrets in the value of a setting."""
    return secret_words(headers_in(value).values()) if name.endswith("_headers") else value.get_secret_value().split()


def _converted(value: object, kind: Any) -> object:  # Any: as ``Setting.annotation``
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"the value must be one of {', '.join(get_args(kind))}")
        return value
    if get_origin(kind) is dict:
        return _table(value, kind)
    return _CONVERTED[kind](value)


def _table(value: object, kind: Any) -> object:  # Any: as above
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"the value is not a valid table: {error}") from error


def _switch(value: object) -> bool:
    switch = value if isinstance(value, bool) else SWITCHES.get(str(value).strip().lower())
    if switch is None:
        raise ValueError("the value must be yes or no")
    return switch


def _whole(value: object) -> int:
    number = _number(value)
    if not number.is_integer():
        raise ValueError("the value must be a whole number")
    return int(number)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("the value must be a number")
    try:
        return float(value)
    except ValueError:
        raise ValueError("the value must be a number") from None  # the cause would quote the value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("the value must be text")
    return value


def _path(value: object) -> Path:
    if not isinstance(value, str | Path):
        raise ValueError("the value must be the path of a file or folder")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("the path begins with ~ and a user that does not exist on this machine") from None


def _secret(value: object) -> SecretStr:
    return value if isinstance(value, SecretStr) else SecretStr(_text(value))


_CONVERTED: Mapping[object, Callable[[object], object]] = {
    bool: _switch,
    int: _whole,
    float: _number,
    str: _text,
    Path: _path,
    SecretStr: _secret,
}


def key_of(key: SecretStr) -> SecretStr | None:
    """The key without spaces around it, None if it is empty. Raises ValueError, which does not quote the key."""
    text = key.get_secret_value().strip()
    if not re.fullmatch("[!-~]*", text):
        raise ValueError("a key has only printable ASCII characters and no spaces; check the value that you pasted")
    return SecretStr(text) if text else None


def decoded(setting: Setting, value: str) -> object:
    """The value of a variable. Tables are written as JSON there. Raises ConfigError."""
    if get_origin(setting.annotation) is not dict:
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ConfigError(
            f'{setting.variable} is not JSON. Examples: KODERZ_LIMITS={{"openai": {{"concurrency": 16}}}} and '
            'KODERZ_TIERS={"openai": "local"}. In settings.toml, use the tables [limits.openai] and [tiers] instead.'
        ) from error


def merged_tables(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both, with precedence for ``above``. Tables in both are merged in the same way."""
    tables = {
        name: merged_tables(below[name], value)
        for name, value in above.items()
        if isinstance(value, dict) and isinstance(below.get(name), dict)
    }
    return {**below, **above, **tables}


def refuse_unknown(keys: Collection[str], known: set[str], path: Path) -> None:
    """Raise ConfigError for a folder of that name, an unknown key, which would be ignored silently, and ``home``.

    A key that is written as in the environment is answered with the right one.
    """
    if path.is_dir():
        raise ConfigError(f"{path} is a folder, so no settings can be read from it. Remove the folder.")
    faults = [f"{key!r}{_meant(key.lower().removeprefix('koderz_'), known)}" for key in keys if key not in known]
    if faults:
        raise ConfigError(
            f"{path} contains unknown settings: {'; '.join(faults)}. Correct or remove them in that file."
        )
    if "home" in keys:
        raise ConfigError(f"{path} contains the setting home. {NO_HOME} Remove home from that file.")


def _meant(key: str, known: Collection[str]) -> str:
    near = get_close_matches(key, sorted(known), n=3)
    return f" (did you mean {' or '.join(near)}?)" if near else f" (known: {', '.join(sorted(known))})"


def check_env_file(keys: Iterable[str], known: Collection[str]) -> None:
    """Raise ConfigError if ``.env`` names a program: otherwise a downloaded folder with a ``.env`` could start it.

    Raise ConfigError also if a variable begins with ``KODERZ_`` but is not ``known``: it would be ignored silently.
    """
    names = sorted(map(str.lower, keys))
    for name in sorted(PROGRAMS.intersection(names)):
        raise ConfigError(
            f".env sets {name.upper()}, which names a program to start. koderz refuses this, because a .env in a "
            "downloaded folder could start any program. Set the variable in the environment or in settings.toml "
            "instead."
        )
    unknown = [name for key in names if key.startswith("koderz_") and (name := key.upper()) not in known]
    if unknown:
        faults = "; ".join(f"{name!r}{_meant(name, known)}" for name in unknown)
        raise ConfigError(f".env contains unknown settings: {faults}. Correct or remove them in that file.")
