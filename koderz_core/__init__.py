"""koderz: can cheap models with many tries, under a little frontier supervision, match an expensive one?

The public Python interface is ``__all__``; each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"
__all__ = ["KoderzError", "Order", "Wanted", "Workspace", "__version__", "open_workspace"]

_HOMES = {
    "KoderzError": "koderz_core.errors",
    "Order": "koderz_core.runner.planning",
    "Wanted": "koderz_core.runner.planning",
    "Workspace": "koderz_core.workspace",
    "open_workspace": "koderz_core.workspace",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
