"""koderz: can cheap models with many tries, under a little frontier supervision, match an expensive one?

The public Python interface is ``__all__``; each name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koderz_core.deferred import importer

if TYPE_CHECKING:
    from koderz_core.errors import KoderzError
    from koderz_core.runner.ablations import with_ablations
    from koderz_core.runner.forms import Parameter, Preset, Role, StrategyForm
    from koderz_core.runner.planning import Order, Wanted
    from koderz_core.workspace import Workspace, open_workspace, the_workspace
    from koderz_core.workspace.launching import Clone, Concern

__version__ = "0.1.0"
__all__ = [
    "Clone",
    "Concern",
    "KoderzError",
    "Order",
    "Parameter",
    "Preset",
    "Role",
    "StrategyForm",
    "Wanted",
    "Workspace",
    "__version__",
    "open_workspace",
    "the_workspace",
    "with_ablations",
]

_HOMES = {
    "Clone": "koderz_core.workspace.launching",
    "Concern": "koderz_core.workspace.launching",
    "KoderzError": "koderz_core.errors",
    "Order": "koderz_core.runner.planning",
    "Parameter": "koderz_core.runner.forms",
    "Preset": "koderz_core.runner.forms",
    "Role": "koderz_core.runner.forms",
    "StrategyForm": "koderz_core.runner.forms",
    "Wanted": "koderz_core.runner.planning",
    "Workspace": "koderz_core.workspace",
    "open_workspace": "koderz_core.workspace",
    "the_workspace": "koderz_core.workspace",
    "with_ablations": "koderz_core.runner.ablations",
}

__getattr__ = importer(__name__, _HOMES)
