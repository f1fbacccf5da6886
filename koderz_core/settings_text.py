"""Settings as the user sees and changes them: value, origin and meaning of each, and writing to ``settings.toml``.

A secret is only shown as set or not set, and is never written. The file is written atomically.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args, get_origin

from koderz_core.addresses import secrets_of
from koderz_core.config import (
    SETTINGS,
    Settings,
    env_file,
    environment,
    from_variables,
    load_settings,
    settings_file,
)
from koderz_core.errors import ConfigError
from koderz_core.files import replace_file
from koderz_core.settings_fields import NO_HOME, PROGRAMS

Kind = Literal["secret", "program", "table", "place", "switch", "choice", "number", "text"]

SWITCH = ("yes", "no")
DEFAULT, FILE = "default", "settings.toml"
UNSET = "–"
CANNOT: Mapping[Kind, str] = {
    "secret": "koderz never writes or shows a secret. Set this setting in the environment, or in the file .env.",
    "program": "This setting names a program that koderz starts. If the dashboard could change it, every "
    "visitor of the dashboard could start any program. Set this setting in the environment, or edit settings.toml.",
    "table": "The value of this setting is a TOML table. To change it, edit settings.toml.",
    "place": NO_HOME,
}
"""Why koderz does not write settings of a kind, and where to set them instead."""


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One setting.

    ``value``: its present value, as text; ``written``: its value in settings.toml, "" if there is none. ``origins``:
    the sources that set it, in order of precedence. ``choices``: its possible values, () if there are too many.
    ``why_not``: why koderz does not write it, "" if it does.
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
        """The source that sets it and overrides settings.toml, "" if there is none."""
        return next((origin for origin in self.origins if origin not in (FILE, DEFAULT)), "")


def settings_path(home: Path) -> Path:
    """The path of settings.toml in a data folder."""
    return home / FILE


def shown_settings(home: Path | None = None) -> list[ShownSetting]:
    """All settings as koderz would load them now. ``home``: as on the command line. Raises ConfigError."""
    settings = load_settings(home=home)
    sources = dict(_sources(settings.home, home))
    return [_shown(name, settings, sources) for name in SETTINGS]


def awaiting_start(in_use: Settings) -> list[str]:
    """The names of settings that have changed since a process started with ``in_use``. Raises ConfigError."""
    now = load_settings()
    return [name for name in SETTINGS if getattr(now, name) != getattr(in_use, name)]


def has_password(value: object) -> bool:
    """Whether an address, or one of several, contains a login or a key."""
    return any(secrets_of(url) for url in as_text(value).split() if "://" in url)


def as_text(value: object) -> str:
    """A value as text, which ``write_setting`` accepts."""
    if isinstance(value, bool):
        return SWITCH[0] if value else SWITCH[1]
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"
    return "" if value is None else str(value)


def _sources(home: Path, option: Path | None) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The values that each source sets, in order of precedence."""
    yield "command line", {} if option is None else {"home": option}
    yield "environment", from_variables(environment())
    yield ".env", from_variables(env_file())
    yield FILE, settings_file(home)


def _shown(name: str, settings: Settings, sources: Mapping[str, Mapping[str, object]]) -> ShownSetting:
    setting, value = SETTINGS[name], getattr(settings, name)
    places = {place: values[key] for place, values in sources.items() for key in setting.names if key in values}
    kind: Kind = "secret" if has_password(value) or has_password(places.get(FILE)) else _kind(name)
    written = places.get(FILE)
    if kind == "switch" and written is not None:  # such as "on"
        with suppress(ValueError):  # an invalid value, which another source overrides, stays as it is
            written = setting.parsed(written)
    return ShownSetting(
        name=name,
        variable=setting.variable,
        meaning=setting.description,
        kind=kind,
        value=_value(kind, value),
        origins=tuple(places) or (DEFAULT,),
        default=_value(kind, setting.default_value()),
        choices=_choices(setting.annotation),
        written="" if kind == "secret" else as_text(written),
        why_not=CANNOT.get(kind, ""),
    )


def _value(kind: Kind, value: object) -> str:
    if kind == "secret":
        return "set" if value else "not set"
    if isinstance(value, dict):
        return ", ".join(sorted(value)) or UNSET
    return as_text(value) or UNSET


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
    """Write a setting to the ``settings.toml`` of a data folder and return it. ``text``: its value.

    Comments, order and all other settings stay as they are. Raises ConfigError, and writes nothing, for an invalid
    value, for a setting that koderz does not write, and for a file that is already invalid.
    """
    before = _writable(home, name)
    if not text.strip():
        raise ConfigError(f"{name} needs a value. To restore the default ({before.default}), remove the setting.")
    checked = getattr(load_settings(**{"home": home, name: text.strip()}), name)
    if has_password(checked):
        raise ConfigError(f"The value of {name} contains a password. {CANNOT['secret']}")
    _change(settings_path(home), name, str(checked) if isinstance(checked, Path) else checked)
    return _shown_now(home, name)


def remove_setting(home: Path, name: str) -> ShownSetting:
    """Remove a setting from ``settings.toml`` and return it. Raises ConfigError."""
    _writable(home, name)
    _change(settings_path(home), name, None)
    return _shown_now(home, name)


def _writable(home: Path, name: str) -> ShownSetting:
    if name not in SETTINGS:
        raise ConfigError(f"There is no setting {name!r}. Known settings: {', '.join(sorted(SETTINGS))}.")
    setting = _shown_now(home, name)
    if setting.why_not:
        raise ConfigError(f"koderz does not write the setting {name}. {setting.why_not}")
    return setting


def _shown_now(home: Path, name: str) -> ShownSetting:
    return next(setting for setting in shown_settings(home) if setting.name == name)


def _change(path: Path, name: str, value: object) -> None:
    """``value``: as loaded; None removes the setting."""
    import tomlkit  # noqa: PLC0415 (only needed to write)

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
            replace_file(path.resolve(), after.encode())  # so that a link stays a link
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written ({error.strerror}). Fix the permissions of the file or of its folder."
        ) from error
