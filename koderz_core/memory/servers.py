"""Which memory server is meant, how it is started, and what it may see of this process."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.errors import ConfigError
from koderz_core.memory.cortex.open import DEFAULT_PROJECT, FILE_NAME

EMBEDDED = (sys.executable, "-P", "-c", "from koderz_core.cli import main; main()", "cortex", "serve", "--db")
PASSED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "NODE_PATH")


@dataclass(frozen=True, slots=True)
class Server:
    """A command that speaks MCP over its standard streams. ``shown`` is what people know it by."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    shown: str

    @property
    def key(self) -> str:
        """Equal for the same server: what one has acknowledged, another one does not have."""
        return hashlib.sha256(json.dumps(self.shown).encode()).hexdigest()[:16]


def server_of(settings: Settings) -> Server:
    """KODERZ_CORTEX_COMMAND before CORTEX_PATH (under node) before the server that comes with koderz.

    Raises ConfigError for a command that is none.
    """
    file = str(memory_file(settings))
    if settings.cortex_command:
        return _foreign(_split(settings.cortex_command))
    if settings.cortex_path:
        return _foreign(("node", str(settings.cortex_path.absolute()), "--db", file))
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return Server((*EMBEDDED, file), environment, shlex.join(("koderz", "cortex", "serve", "--db", file)))


def memory_file(settings: Settings) -> Path:
    """Where the memories are, unless KODERZ_CORTEX_COMMAND says otherwise."""
    return (settings.cortex_db or settings.home / FILE_NAME).absolute()


def _foreign(command: tuple[str, ...]) -> Server:
    """It sees no key of this process: only what programs need to start, and the project that it works for."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return Server(command, {**passed_on, "CLAUDE_MEMORY_PROJECT": DEFAULT_PROJECT}, shlex.join(command))


def _split(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"KODERZ_CORTEX_COMMAND cannot be read: {error}. Quote it as in a shell.") from error
    if not words:
        raise ConfigError("KODERZ_CORTEX_COMMAND is empty. Give a command that speaks MCP over stdio, or unset it.")
    return words
