"""koderz' grader for other Python programs: a metric, a scorer and a reward.

``compute`` replaces Hugging Face's metric ``code_eval``; ``inspect_scorer`` makes a scorer of Inspect; ``reward`` and
``reward_for`` are reward functions for trainers such as TRL. All use the workspace of the process, whose sandbox starts
once. docs/serving.md has examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from koderz_core.lazy import importer

if TYPE_CHECKING:
    from koderz_core.code_eval.metric import compute
    from koderz_core.code_eval.rewards import reward, reward_for
    from koderz_core.code_eval.scorer import inspect_scorer

__all__ = ["compute", "inspect_scorer", "reward", "reward_for"]

_HOMES = {
    "compute": "koderz_core.code_eval.metric",
    "inspect_scorer": "koderz_core.code_eval.scorer",
    "reward": "koderz_core.code_eval.rewards",
    "reward_for": "koderz_core.code_eval.rewards",
}

__getattr__ = importer(__name__, _HOMES)
