"""koderz: can cheap models with many attempts and a little frontier supervision match an expensive frontier model?

The public Python interface is ``__all__``; each name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koderz_core.lazy import importer

if TYPE_CHECKING:
    from koderz_core.errors import KoderzError
    from koderz_core.plan.ablations import with_ablations
    from koderz_core.plan.baselines import Proposal
    from koderz_core.plan.clone import Clone
    from koderz_core.plan.command_line import command_of
    from koderz_core.plan.costs import Concern
    from koderz_core.plan.forms import Parameter, Role, StrategyForm
    from koderz_core.plan.order import Order, Wanted
    from koderz_core.plan.presets import Preset
    from koderz_core.workspace import Workspace, open_workspace, the_workspace
    from koderz_core.workspace.benchmark_result import BenchmarkResult

__version__ = "0.1.0"
__all__ = [
    "BenchmarkResult",
    "Clone",
    "Concern",
    "KoderzError",
    "Order",
    "Parameter",
    "Preset",
    "Proposal",
    "Role",
    "StrategyForm",
    "Wanted",
    "Workspace",
    "__version__",
    "command_of",
    "open_workspace",
    "the_workspace",
    "with_ablations",
]

_HOMES = {
    "BenchmarkResult": "koderz_core.workspace.benchmark_result",
    "Clone": "koderz_core.plan.clone",
    "Concern": "koderz_core.plan.costs",
    "KoderzError": "koderz_core.errors",
    "Proposal": "koderz_core.plan.baselines",
    "Order": "koderz_core.plan.order",
    "Parameter": "koderz_core.plan.forms",
    "Preset": "koderz_core.plan.presets",
    "Role": "koderz_core.plan.forms",
    "StrategyForm": "koderz_core.plan.forms",
    "Wanted": "koderz_core.plan.order",
    "Workspace": "koderz_core.workspace",
    "open_workspace": "koderz_core.workspace",
    "command_of": "koderz_core.plan.command_line",
    "the_workspace": "koderz_core.workspace",
    "with_ablations": "koderz_core.plan.ablations",
}

__getattr__ = importer(__name__, _HOMES)
