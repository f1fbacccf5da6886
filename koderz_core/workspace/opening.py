"""Opening a workspace: one of your own, or the one that this process shares."""

from __future__ import annotations

from typing import Any, cast

from koderz_core import process
from koderz_core.config import load_settings
from koderz_core.workspace.joined import Workspace


def open_workspace(**settings: Any) -> Workspace:  # Any: settings by field name, validated
    """A workspace under the user's settings, with these on top. Raises ConfigError."""
    return Workspace(load_settings(**settings))


def the_workspace() -> Workspace:
    """The one workspace of this process, opened under the user's settings at first use. Raises ConfigError."""
    return process.the_one("workspace", open_workspace)


def leave() -> None:
    """Close and forget the process's workspace, if there is one."""
    left = cast(Workspace | None, process.forget("workspace"))  # its class may be from before a reload
    if left is not None:
        left.close()
