"""A tree that decides by itself where it grows: AB-MCTS-A, adaptive branching Monte Carlo tree search.

Inoue et al., "Wider or Deeper? Scaling LLM Inference-Time Compute with Adaptive Branching Tree Search" (arXiv
2503.04412), in the variant that aggregates by node, with Gaussian rewards. Priors, order of decisions and what each
reward is credited to are those of its authors' library, treequest 0.3.3 (``ABMCTSA()`` with its defaults).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from statistics import fmean
from typing import Generic, TypeVar

State = TypeVar("State")
_LEAST = 1e-300  # a gamma variate may be rounded to 0


@dataclass(frozen=True, slots=True)
class Posterior:
    """A normal-inverse-chi-squared distribution, by default the prior of a reward from 0 to 1.

    ``m``: where the mean is believed to be, as firmly as ``kappa`` rewards would tell it; ``tau_square``: what the
    variance is believed to be, with ``nu`` degrees of freedom. Murphy, "Probabilistic Machine Learning: Advanced
    Topics" (2023), section 3.4.3.3.
    """

    m: float = 0.0
    kappa: float = 1.0
    nu: float = 1.0
    tau_square: float = 0.1

    def after(self, rewards: Sequence[float]) -> Posterior:
        """What is believed after these rewards, beside those it has come from."""
        if not rewards:
            return self
        n, mean = len(rewards), fmean(rewards)
        kappa, nu = self.kappa + n, self.nu + n
        spread = sum((one - mean) ** 2 for one in rewards) + self.kappa * n / kappa * (self.m - mean) ** 2
        return Posterior((self.kappa * self.m + n * mean) / kappa, kappa, nu, (self.nu * self.tau_square + spread) / nu)

    def draw(self, random: Random) -> float:
        """A mean reward, as likely as it is believed to be: Thompson sampling."""
        variance = self.nu * self.tau_square / 2 / max(random.gammavariate(self.nu / 2, 1.0), _LEAST)
        return random.normalvariate(self.m, sqrt(variance / self.kappa))


PRIOR = Posterior()


@dataclass(slots=True)
class Belief:
    """What the rewards so far say of one choice."""

    rewards: list[float] = field(default_factory=list)

    def draw(self, random: Random) -> float:
        return PRIOR.after(self.rewards).draw(random)


@dataclass(slots=True, eq=False)
class Node(Generic[State]):
    """``own``: its reward and all below it. ``wider``: those of its children when they were made; ``deeper``: all
    below these. The root has no parent and no state.
    """

    parent: Node[State] | None = None
    state: State | None = None
    children: list[Node[State]] = field(default_factory=list)
    own: Belief = field(default_factory=Belief)
    wider: Belief = field(default_factory=Belief)
    deeper: Belief = field(default_factory=Belief)


class Branching(Generic[State]):
    """The search: ``choose`` where to grow, then ``grow`` there, and again. ``random`` is its only randomness."""

    def __init__(self, random: Random, members: int = 1) -> None:
        self.root = Node[State]()
        self._random = random
        self._members = [Belief() for _ in range(members)]

    def choose(self) -> tuple[Node[State], int]:
        """The node that is to have another child, and which member, from 0, is to make it."""
        node = self.root
        while node.children and node.deeper.draw(self._random) > node.wider.draw(self._random):
            node = node.children[self._likeliest([child.own for child in node.children])]
        return node, self._likeliest(self._members)

    def grow(self, parent: Node[State], member: int, state: State, reward: float) -> None:
        """A member made this child. A reward, from 0 to 1, counts for whatever led to it."""
        child = Node(parent, state)
        parent.children.append(child)
        for belief in (self._members[member], child.own, parent.wider):
            belief.rewards.append(reward)
        while parent.parent is not None:
            parent.own.rewards.append(reward)
            parent = parent.parent
            parent.deeper.rewards.append(reward)

    def _likeliest(self, beliefs: Sequence[Belief]) -> int:
        """A choice as often as it is believed to be the best; where there is one only, nothing is drawn."""
        if len(beliefs) == 1:
            return 0
        drawn = [belief.draw(self._random) for belief in beliefs]
        return drawn.index(max(drawn))
