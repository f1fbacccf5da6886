"""Settings as a person sees and changes them: value, origin and meaning of each, and writing one to ``settings.toml``.

Of a secret only whether it is set is shown, and none is written. A file is written whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args, get_origin

from koderz_core.addresses import secrets_of
from koderz_core.config import (
    PROGRAMS,
    SETTINGS,
    Settings,
    env_file,
    environment,
    load_settings,
    said_by,
    settings_file,
)
from koderz_core.errors import ConfigError
from koderz_core.files import replace_file

Kind = Literal["secret", "program", "table", "place", "switch", "choice", "number", "text"]

SWITCH = ("yes", "no")
DEFAULT, FILE = "default", "settings.toml"
UNSET = "–"
CANNOT: Mapping[Kind, str] = {
    "secret": "A secret is never written or shown by a page. Set it in the environment, or in a file called .env.",
    "program": "It names a program that koderz starts: whoever reaches this page could choose any. Set it in the "
    "environment, or in settings.toml with an editor.",
    "table": "It is a table of its own. Write it in settings.toml with an editor.",
    "place": "settings.toml stands in that folder. Choose it with KODERZ_HOME or --data-dir.",
}
"""Why settings of a kind are not written here, and where instead."""


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One setting.

    ``value``: what is valid now, for people; ``written``: what settings.toml has of it, "" if nothing. ``origins``:
    where the value comes from, the one that counts first. ``choices``: all it can be, () if it is free. ``why_not``:
    why it is not to be written here, "" if it may be.
    """

    name: str
    variable: str
    meaning: str
    kind: Kind
    value: str
    origins: tuple[str, ...]
    default: str
    choices: tuple[str, ...] = ()
    written: str = ""
    why_not: str = ""

    @property
    def overridden_by(self) -> str:
        """What is stronger than settings.toml and says something of it, "" if nothing is."""
        return next((origin for origin in self.origins if origin not in (FILE, DEFAULT)), "")


def settings_path(home: Path) -> Path:
    """Where the file of settings is."""
    return home / FILE


def shown_settings(home: Path | None = None) -> list[ShownSetting]:
    """All settings as they would be loaded now; ``home`` as the command line names it. Raises ConfigError."""
    settings = load_settings(home=home)
    sources = dict(_sources(settings.home, home))
    return [_shown(name, settings, sources) for name in SETTINGS]


def awaiting_start(shown: Iterable[ShownSetting], in_use: Settings) -> list[str]:
    """The names of those that are others now than those of a process that has begun with ``in_use``."""
    return [setting.name for setting in shown if setting.value != _value(setting.kind, getattr(in_use, setting.name))]


def has_password(value: object) -> bool:
    """Whether an address holds a login or a key."""
    return isinstance(value, str) and "://" in value and bool(secrets_of(value))


def said(value: object) -> str:
    """A value for people, and as ``changed`` takes it."""
    if isinstance(value, bool):
        return SWITCH[0] if value else SWITCH[1]
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"
    return "" if value is None else str(value)


def _sources(home: Path, given: Path | None) -> Iterator[tuple[str, Mapping[str, object]]]:
    """What each place says, the strongest first."""
    yield "command line", {} if given is None else {"home": given}
    yield "environment", said_by(environment())
    yield ".env", said_by(env_file())
    yield FILE, settings_file(home)


def _shown(name: str, settings: Settings, sources: Mapping[str, Mapping[str, object]]) -> ShownSetting:
    setting, value = SETTINGS[name], getattr(settings, name)
    places = {place: given[key] for place, given in sources.items() for key in setting.names if key in given}
    kind: Kind = "secret" if has_password(value) or has_password(places.get(FILE)) else _kind(name)
    return ShownSetting(
        name=name,
        variable=setting.variable,
        meaning=setting.description,
        kind=kind,
        value=_value(kind, value),
        origins=tuple(places) or (DEFAULT,),
        default=_value(kind, setting.usual()),
        choices=_choices(setting.annotation),
        written="" if kind == "secret" else said(places.get(FILE)),
        why_not=CANNOT.get(kind, ""),
    )


def _value(kind: Kind, value: object) -> str:
    if kind == "secret":
        return "set" if value else "not set"
    if isinstance(value, dict):
        return ", ".join(sorted(value)) or UNSET
    return said(value) or UNSET


def _kind(name: str) -> Kind:
    annotation = SETTINGS[name].annotation
    if name in PROGRAMS or name == "home":
        return "place" if name == "home" else "program"
    if SETTINGS[name].secret:
        return "secret"
    if get_origin(annotation) is dict:
        return "table"
    if _choices(annotation):
        return "switch" if annotation is bool else "choice"
    return "number" if annotation in (int, float) else "text"


def _choices(annotation: object) -> tuple[str, ...]:
    if annotation is bool:
        return SWITCH
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def write_setting(home: Path, name: str, text: str) -> ShownSetting:
    """Put a setting into the ``settings.toml`` of a data folder, as ``text`` says it; the setting as it is then.

    Comments, order and all other settings stay as they are. Raises ConfigError, with nothing written, for a value that
    cannot be, for a setting that is not to be written so, and for a file that is wrong as it is.
    """
    before = _writable(home, name)
    if not text.strip():
        raise ConfigError(f"{name} needs a value. To go back to its default, {before.default}, remove it instead.")
    checked = getattr(load_settings(**{"home": home, name: text.strip()}), name)
    if has_password(checked):
        raise ConfigError(f"{name} would hold a login. {CANNOT['secret']}")
    _change(settings_path(home), name, str(checked) if isinstance(checked, Path) else checked)
    return _one(home, name)


def remove_setting(home: Path, name: str) -> ShownSetting:
    """Take a setting out of ``settings.toml``; the setting as it is then. Raises ConfigError."""
    _writable(home, name)
    _change(settings_path(home), name, None)
    return _one(home, name)


def _writable(home: Path, name: str) -> ShownSetting:
    if name not in SETTINGS:
        raise ConfigError(f"There is no setting {name!r}. Known: {', '.join(sorted(SETTINGS))}.")
    found = _one(home, name)
    if found.why_not:
        raise ConfigError(f"{name} is not written here. {found.why_not}")
    return found


def _one(home: Path, name: str) -> ShownSetting:
    return next(shown_setting for shown_setting in shown_settings(home) if shown_setting.name == name)


def _change(path: Path, name: str, value: object) -> None:
    """``value``: what settings came to of it; None removes it."""
    import tomlkit  # noqa: PLC0415 (only who writes needs it)

    try:
        before = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
        document = tomlkit.parse(before)
        for key in SETTINGS[name].names:
            if value is None or key != name:
                document.pop(key, None)
        if value is not None:
            document[name] = value
        after = tomlkit.dumps(document)
        if after != before:
            replace_file(path.resolve(), after.encode())  # so that a link stays one
    except OSError as error:
        raise ConfigError(f"{path} cannot be written ({error.strerror}). Mend its rights, or its folder's.") from error
