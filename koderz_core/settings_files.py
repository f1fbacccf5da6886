"""What may stand in the files that settings are read from: nothing unknown, and no program in a folder's ``.env``."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from koderz_core.errors import ConfigError

PROGRAMS = frozenset(
    {f"{prefix}{name}" for prefix in ("", "koderz_") for name in ("cortex_path", "cortex_command", "llama_server")}
)
"""Settings that say which program is started."""


def refuse_unknown(keys: Iterable[str], known: set[str], path: Path) -> None:
    """Raise ConfigError for what would be ignored without a word: a folder of that name, or a key that nobody knows.

    Written as in the environment, a key is near to the one that is meant.
    """
    if path.is_dir():
        raise ConfigError(f"{path} is a folder, so no settings can be read from it. Remove it.")
    faults = [f"{key!r}{_meant(key.lower().removeprefix('koderz_'), known)}" for key in keys if key not in known]
    if faults:
        raise ConfigError(f"{path} sets what koderz does not know: {'; '.join(faults)}. Correct or remove it there.")


def refuse_programs(keys: Iterable[str]) -> None:
    """Raise ConfigError for a ``.env`` that names a program: it lies in whatever folder koderz is started in."""
    for key in sorted(PROGRAMS.intersection(map(str.lower, keys))):
        raise ConfigError(
            f".env sets {key.upper()}, which would let any folder choose a program to be started. Set it in the "
            "environment or in settings.toml, and remove it from .env."
        )


def _meant(key: str, known: set[str]) -> str:
    near = get_close_matches(key, sorted(known), n=3)
    return f" (did you mean {', '.join(near)}?)" if near else f" (known: {', '.join(sorted(known))})"
