"""What a workspace is made of, by name; each is imported when it is first used, so a command pays for its own only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koderz_core.lazy import importer

if TYPE_CHECKING:
    from koderz_core.datasets import dataset_names, load
    from koderz_core.datasets.own_problems import keep
    from koderz_core.grading.own_tests import problem_of, require_solved, typed_row
    from koderz_core.models.availability import lacking, survey
    from koderz_core.models.open_models import OpenModels
    from koderz_core.models.weights import fetch
    from koderz_core.plan.clone import dataset_of, forked
    from koderz_core.plan.command_line import command_of
    from koderz_core.plan.costs import Costs
    from koderz_core.plan.evidence import Evidence
    from koderz_core.plan.planner import Planner
    from koderz_core.plan.strategy_files import require_strategies
    from koderz_core.records.plans import default_concurrency
    from koderz_core.runner.background import Running
    from koderz_core.runner.dependencies import Dependencies
    from koderz_core.runner.header import header, recorded_plan
    from koderz_core.runner.recorder import Redactor
    from koderz_core.runner.runner import Assignment, Runner
    from koderz_core.sandbox.local_judge import Sandbox
    from koderz_core.store.measurements import measurements
    from koderz_core.workspace.allowances import Allowances
    from koderz_core.workspace.announcing import Announcing
    from koderz_core.workspace.asking import Asking
    from koderz_core.workspace.background import Awaiting
    from koderz_core.workspace.baselines import Baselines
    from koderz_core.workspace.bundling import Bundling
    from koderz_core.workspace.comparing import Comparing
    from koderz_core.workspace.exporting import Exporting
    from koderz_core.workspace.judging import Judging, require_gradable
    from koderz_core.workspace.memories import Memories
    from koderz_core.workspace.remembering import Remembering
    from koderz_core.workspace.upkeep import Upkeep

__all__ = [
    "Allowances",
    "Announcing",
    "Asking",
    "Assignment",
    "Awaiting",
    "Baselines",
    "Bundling",
    "Comparing",
    "Costs",
    "Dependencies",
    "Evidence",
    "Exporting",
    "Judging",
    "Memories",
    "OpenModels",
    "Planner",
    "Redactor",
    "Remembering",
    "Runner",
    "Running",
    "Sandbox",
    "Upkeep",
    "command_of",
    "dataset_names",
    "dataset_of",
    "default_concurrency",
    "fetch",
    "forked",
    "header",
    "keep",
    "lacking",
    "load",
    "measurements",
    "problem_of",
    "recorded_plan",
    "require_gradable",
    "require_solved",
    "require_strategies",
    "survey",
    "typed_row",
]

_HOMES = {
    "Allowances": "koderz_core.workspace.allowances",
    "Announcing": "koderz_core.workspace.announcing",
    "Asking": "koderz_core.workspace.asking",
    "Assignment": "koderz_core.runner.runner",
    "Awaiting": "koderz_core.workspace.background",
    "Baselines": "koderz_core.workspace.baselines",
    "Bundling": "koderz_core.workspace.bundling",
    "Comparing": "koderz_core.workspace.comparing",
    "Costs": "koderz_core.plan.costs",
    "Evidence": "koderz_core.plan.evidence",
    "Exporting": "koderz_core.workspace.exporting",
    "Judging": "koderz_core.workspace.judging",
    "Memories": "koderz_core.workspace.memories",
    "OpenModels": "koderz_core.models.open_models",
    "Dependencies": "koderz_core.runner.dependencies",
    "Planner": "koderz_core.plan.planner",
    "Redactor": "koderz_core.runner.recorder",
    "Remembering": "koderz_core.workspace.remembering",
    "Runner": "koderz_core.runner.runner",
    "Running": "koderz_core.runner.background",
    "Sandbox": "koderz_core.sandbox.local_judge",
    "Upkeep": "koderz_core.workspace.upkeep",
    "command_of": "koderz_core.plan.command_line",
    "dataset_names": "koderz_core.datasets",
    "dataset_of": "koderz_core.plan.clone",
    "default_concurrency": "koderz_core.records.plans",
    "fetch": "koderz_core.models.weights",
    "forked": "koderz_core.plan.clone",
    "header": "koderz_core.runner.header",
    "keep": "koderz_core.datasets.own_problems",
    "lacking": "koderz_core.models.availability",
    "load": "koderz_core.datasets",
    "measurements": "koderz_core.store.measurements",
    "problem_of": "koderz_core.grading.own_tests",
    "recorded_plan": "koderz_core.runner.header",
    "require_gradable": "koderz_core.workspace.judging",
    "require_solved": "koderz_core.grading.own_tests",
    "require_strategies": "koderz_core.plan.strategy_files",
    "survey": "koderz_core.models.availability",
    "typed_row": "koderz_core.grading.own_tests",
}

__getattr__ = importer(__name__, _HOMES)
