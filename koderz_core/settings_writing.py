"""Writing ``settings.toml``: one setting at a time, checked as every setting is, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from koderz_core.config import SETTINGS, load_settings
from koderz_core.errors import ConfigError
from koderz_core.settings_shown import (
    CANNOT,
    ShownSetting,
    has_password,
    settings_path,
    shown_settings,
)
from koderz_core.writing import replace_file


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
    return next(one for one in shown_settings(home) if one.name == name)


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
