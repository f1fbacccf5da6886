"""The open parts of one process, joined: what CLI and pages hold."""

from koderz_core.workspace.joined import Workspace, leave, open_workspace, the_workspace

__all__ = ["Workspace", "leave", "open_workspace", "the_workspace"]
