"""AB-MCTS-A agrees with treequest, which its authors published: the same beliefs, the same choices by them.

Their random draws come from generators of different kinds, so whole searches are compared with a stand-in for draws,
and real draws by how often they choose what. treequest.json was written by record_treequest.py.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from math import pi, sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest
from scipy.stats import kstest, t

from koderz_core.strategies.tree import PRIOR, Branching, Posterior

RECORDED = json.loads(Path(__file__).with_name("treequest.json").read_text())
REWARDS = [0.5, 0.25, 0.75]


def stand_in(step: int, m: float, kappa: float, tau_square: float) -> float:
    return Random(f"{step} {m * pi:.9f} {kappa:.1f} {tau_square * pi:.9f}").gauss(m, sqrt(tau_square / kappa))


@pytest.mark.parametrize("recorded", RECORDED["beliefs"], ids=lambda item: f"{len(item['rewards'])} rewards")
def test_after_the_same_rewards_the_same_is_believed(recorded: dict[str, Any]) -> None:
    assert asdict(PRIOR.after(recorded["rewards"])) == pytest.approx(recorded["posterior"], abs=1e-12)


@pytest.mark.parametrize("recorded", RECORDED["searches"], ids=lambda item: f"{item['members']} members")
def test_by_the_same_draws_the_same_nodes_grow_in_the_same_order(
    recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, nodes, grown = Branching[int](Random(), recorded["members"]), [], []
    for step, reward in enumerate(recorded["rewards"]):
        draw = lambda item, _, step=step: stand_in(step, item.m, item.kappa, item.tau_square)  # noqa: E731
        monkeypatch.setattr(Posterior, "draw", draw)
        node, member = tree.choose()
        grown.append([1 + nodes.index(node) if node in nodes else 0, member])
        tree.grow(node, member, step, reward)
        nodes.append(node.children[-1])
    assert grown == recorded["grown"]
    assert {node for node, _ in grown} > {0}  # it went deeper, too


@pytest.mark.parametrize("recorded", RECORDED["wider"])
def test_it_goes_wider_as_often(recorded: dict[str, Any]) -> None:
    tree = Branching[int](Random(7))
    tree.grow(tree.root, 0, 0, 0.0)
    tree.root.wider.rewards[:], tree.root.deeper.rewards[:] = recorded["new"], recorded["old"]
    draws = 4000
    wider = Counter(tree.choose()[0] is tree.root for _ in range(draws))[True] / draws
    assert wider == pytest.approx(recorded["share"], abs=4 * sqrt(0.25 / draws))


def test_a_draw_is_of_the_marginal_distribution_of_the_mean() -> None:
    after, random = PRIOR.after(REWARDS), Random(7)
    drawn = [after.draw(random) for _ in range(2000)]
    assert kstest(drawn, t(after.nu, after.m, sqrt(after.tau_square / after.kappa)).cdf).pvalue > 0.01


def test_the_given_generator_is_the_only_randomness() -> None:
    def grown(seed: int) -> list[int]:
        tree, numbers = Branching[int](Random(seed), 2), []
        for number in range(30):
            node, member = tree.choose()
            tree.grow(node, member, number, number % 7 / 7)
            numbers.append(-1 if node.state is None else node.state)
        return numbers

    assert grown(1) == grown(1) != grown(2)
