"""The services that the command line and the pages use, joined in one workspace per process."""

from koderz_core.workspace.workspace import Workspace, leave, open_workspace, the_workspace

__all__ = ["Workspace", "leave", "open_workspace", "the_workspace"]
