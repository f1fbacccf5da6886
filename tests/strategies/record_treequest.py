"""Records what treequest's AB-MCTS-A does, into treequest.json: ``pip install treequest==0.3.3``, then run this file.

``searches``: where it grows, with a stand-in for its random draws that goes by beliefs and step alone (``stand_in`` of
test_branching.py is the same). ``beliefs``: the posterior after rewards. ``wider``: how often it goes wider than
deeper after rewards of each, in real draws.
"""

from __future__ import annotations

import json
from math import pi, sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from treequest import ABMCTSA  # type: ignore[import-not-found]  # is no part of koderz, not even of its tests
from treequest.algos.ab_mcts_a.prob_state import (  # type: ignore[import-not-found]  # as above
    NodeProbState,
    ProbabilisticDist,
)

FILE = Path(__file__).with_name("treequest.json")
STEPS, DRAWS = 60, 20_000


def stand_in(step: int, m: float, kappa: float, tau_square: float) -> float:
    """As likely as a belief's real draws, about, and the same wherever the same is believed at the same step.

    Times pi, since decimals of few digits are often just between two that they could be rounded to.
    """
    return Random(f"{step} {m * pi:.9f} {kappa:.1f} {tau_square * pi:.9f}").gauss(m, sqrt(tau_square / kappa))


def search(rewards: list[float], members: int) -> dict[str, Any]:
    """Each step as the number of the node that grows, from 1, 0 for the root, and the member that is asked."""
    algorithm = ABMCTSA()
    state, actions, grown = algorithm.init_tree(), [str(item) for item in range(members)], []
    for number, reward in enumerate(rewards):
        ProbabilisticDist.draw_sample = lambda item, step=number: stand_in(
            step, item.params["m"], item.params["kappa"], item.params["tau_square"]
        )
        state, trial = algorithm.ask(state, actions)
        grown.append([trial.node_to_expand + 1, int(trial.action)])
        state = algorithm.tell(state, trial.trial_id, (f"state {number}", reward))
    return {"members": members, "rewards": rewards, "grown": grown}


def searches(random: Random) -> list[dict[str, Any]]:
    drawn = ProbabilisticDist.draw_sample
    few = [search([random.randrange(8) / 8 for _ in range(STEPS)], members) for members in (1, 1, 2, 3)]
    any_ = [search([round(random.random(), 4) for _ in range(STEPS)], members) for members in (1, 1, 2, 3)]
    better = search([round(number / STEPS, 4) for number in range(STEPS)], 1)
    same = search([0.5] * STEPS, 2)
    ProbabilisticDist.draw_sample = drawn
    return [*few, *any_, better, same]


def belief(rewards: list[float]) -> dict[str, Any]:
    one = ProbabilisticDist()
    for reward in rewards:
        one.tell_observation(reward)
    return {"rewards": rewards, "posterior": one.params}


def wider(new: list[float], old: list[float]) -> dict[str, Any]:
    state = NodeProbState(["0"], model_selection_strategy="multiarm_bandit_thompson")
    choices = state.gen_vs_cont_probas["shared"]
    for reward in new:
        choices["GEN"].tell_observation(reward)
    for reward in old:
        choices["CONT"].tell_observation(reward)
    drawn = [state.thompson_sampling(choices) for _ in range(DRAWS)]
    return {"new": new, "old": old, "share": drawn.count("GEN") / DRAWS}


def main() -> None:
    np.random.seed(7)
    random = Random(7)
    rewards = [random.randrange(7) / 6 for _ in range(12)]
    found = {
        "searches": searches(random),
        "beliefs": [belief(rewards[:number]) for number in range(len(rewards) + 1)],
        "wider": [
            wider([0.5], []),
            wider([0.2, 0.4, 0.1], [0.6]),
            wider([0.9], [0.1, 0.2, 0.15, 0.1]),
            wider([0.5] * 6, [0.5] * 2),
        ],
    }
    FILE.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
