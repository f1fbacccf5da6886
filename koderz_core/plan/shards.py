"""The shard that ``--shard`` names: ``3/16``, or the task of a Slurm job array."""

from __future__ import annotations

import re
from collections.abc import Mapping

from koderz_core.config import environment
from koderz_core.errors import PlanError

AUTO = "auto"
_SHARD = re.compile(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*")
_VARIABLES = ("task_id", "task_min", "task_max", "task_count", "task_step")


def shard_numbers(text: str) -> tuple[int, int]:
    """Return the number of the shard, from 1, and the count of all shards. Raises PlanError."""
    if text.strip() == AUTO:
        return _of_slurm(environment())
    if found := _SHARD.fullmatch(text):
        return int(found[1]), int(found[2])
    raise PlanError(
        f"--shard {text} does not name a shard. Write the number of the shard and the total number of shards, such as "
        f"3/16. In a task of a Slurm job array, you can write {AUTO} instead."
    )


def _of_slurm(variables: Mapping[str, str]) -> tuple[int, int]:
    """The place of this task in its job array. A part of an array, such as ``--array=3,7``, names no shard."""
    values = {name: variables.get(f"slurm_array_{name}", "") for name in _VARIABLES}
    values["task_step"] = values["task_step"] or "1"
    if not all(value.isdigit() for value in values.values()):
        raise PlanError(
            "--shard auto works only in a task of a Slurm job array: submit the job with `sbatch --array=1-16`. "
            "Elsewhere, name the shard, such as --shard 3/16."
        )
    task, least, most, count, step = (int(values[name]) for name in _VARIABLES)
    if count < 2 or least > 1 or most - least != (count - 1) * step:
        raise PlanError(
            "--shard auto needs a job array of at least two tasks, whose indexes start at 0 or 1 and are evenly "
            "spaced. "
            f"Slurm reports an array that does not meet this condition (tasks: {count}, indexes: {least} to {most}). "
            "Name the shard instead, such as --shard $SLURM_ARRAY_TASK_ID/16."
        )
    return (task - least) // step + 1, count
