"""The 15 tools by name, and the one way to call them: arguments are checked, and failures are answers."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from functools import cache

from jsonschema import Draft7Validator

from koderz_core.errors import KoderzError, UsageError
from koderz_core.memory.cortex import keeping, recalling, remembering, transferring
from koderz_core.memory.cortex.open import Cortex, Reply
from koderz_core.memory.cortex.schema import explained
from koderz_core.memory.cortex.schemas import INPUTS

TOOLS: Mapping[str, Callable[..., Reply]] = {
    "remember": remembering.remember,
    "recall": recalling.recall,
    "forget": remembering.forget,
    "get_context": recalling.get_context,
    "start_session": keeping.start_session,
    "end_session": keeping.end_session,
    "consolidate": keeping.consolidate,
    "memory_stats": keeping.memory_stats,
    "get_memory": recalling.get_memory,
    "export_memories": transferring.export_memories,
    "import_memories": transferring.import_memories,
    "get_related": recalling.get_related,
    "link_memories": keeping.link_memories,
    "set_project": keeping.set_project,
    "get_project": keeping.get_project,
}


def call(cortex: Cortex, name: str, arguments: Mapping[str, object]) -> Reply:
    """Raises KoderzError, whose message is for whoever called: then nothing was changed."""
    _check(name, arguments)
    try:
        return TOOLS[name](cortex, **{_snake(key): value for key, value in arguments.items()})
    except (sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
        raise explained(error) from error


def failed(error: KoderzError) -> Reply:
    """A failure as an answer."""
    return Reply(str(error), {"error": str(error), "kind": type(error).__name__})


def _check(name: str, arguments: Mapping[str, object]) -> None:
    fault = next(iter(_validator(name).iter_errors(arguments)), None)
    if fault is None:
        return
    where = ".".join(map(str, fault.absolute_path))
    said = fault.message if len(fault.message) <= 300 else f"{fault.message[:150]} … {fault.message[-150:]}"
    properties = INPUTS[name]["properties"]
    takes = ", ".join(properties) if isinstance(properties, Mapping) else ""
    raise UsageError(f"{name}: {where + ': ' if where else ''}{said}. It takes: {takes}. Nothing was done.")


@cache
def _validator(name: str) -> Draft7Validator:
    return Draft7Validator(INPUTS[name])


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)
