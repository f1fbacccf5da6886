"""The open parts of one process, joined: what CLI and pages hold."""

from koderz_core.workspace.joined import Workspace
from koderz_core.workspace.opening import leave, open_workspace, the_workspace

__all__ = ["Workspace", "leave", "open_workspace", "the_workspace"]
