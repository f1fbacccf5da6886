"""``tree``: a tree search in which each program is a fresh one or repairs an earlier one.

Calls: one for each of at most ``max_iterations`` programs, one after the other. The search is AB-MCTS-A of Inoue et
al., "Wider or Deeper?" (arXiv 2503.04412): at every program, Thompson sampling decides whether to search deeper or
wider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from statistics import fmean
from typing import ClassVar, Generic, TypeVar

from koderz_core.prompts import coding
from koderz_core.prompts.attempts import Attempt, next_attempt
from koderz_core.prompts.coding import Prompt
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling
from koderz_core.strategies.course import Best
from koderz_core.strategies.reminders import Lessons, Reminded, lessons_on, with_examples

State = TypeVar("State")
_LEAST = 1e-300  # a gamma variate may be rounded to 0


@dataclass(frozen=True, slots=True)
class Posterior:
    """A normal-inverse-chi-squared distribution, by default the prior of a reward from 0 to 1.

    ``m``: the expected mean, with the weight of ``kappa`` rewards; ``tau_square``: the expected variance, with ``nu``
    degrees of freedom. Murphy, "Probabilistic Machine Learning: Advanced Topics" (2023), section 3.4.3.3.
    """

    m: float = 0.0
    kappa: float = 1.0
    nu: float = 1.0
    tau_square: float = 0.1

    def after(self, rewards: Sequence[float]) -> Posterior:
        """The posterior after these further rewards."""
        if not rewards:
            return self
        n, mean = len(rewards), fmean(rewards)
        kappa, nu = self.kappa + n, self.nu + n
        spread = sum((reward - mean) ** 2 for reward in rewards) + self.kappa * n / kappa * (self.m - mean) ** 2
        return Posterior((self.kappa * self.m + n * mean) / kappa, kappa, nu, (self.nu * self.tau_square + spread) / nu)

    def draw(self, random: Random) -> float:
        """Draw a mean reward from the distribution, for Thompson sampling."""
        variance = self.nu * self.tau_square / 2 / max(random.gammavariate(self.nu / 2, 1.0), _LEAST)
        return random.normalvariate(self.m, sqrt(variance / self.kappa))


PRIOR = Posterior()


@dataclass(slots=True)
class Belief:
    """The rewards of one choice so far."""

    rewards: list[float] = field(default_factory=list)

    def draw(self, random: Random) -> float:
        return PRIOR.after(self.rewards).draw(random)


@dataclass(slots=True, eq=False)
class Node(Generic[State]):
    """A node of the search tree; the root has no parent and no state.

    ``own``: the rewards of the node and of all nodes below it; ``wider``: those of its children; ``deeper``: those of
    all nodes below its children.
    """

    parent: Node[State] | None = None
    state: State | None = None
    children: list[Node[State]] = field(default_factory=list)
    own: Belief = field(default_factory=Belief)
    wider: Belief = field(default_factory=Belief)
    deeper: Belief = field(default_factory=Belief)


class Branching(Generic[State]):
    """The search: repeatedly ``choose`` a node and ``grow`` a child there. ``random`` is its only randomness."""

    def __init__(self, random: Random, members: int = 1) -> None:
        self.root = Node[State]()
        self._random = random
        self._members = [Belief() for _ in range(members)]

    def choose(self) -> tuple[Node[State], int]:
        """The node that gets another child, and the number of the model, from 0, that makes it."""
        node = self.root
        while node.children and node.deeper.draw(self._random) > node.wider.draw(self._random):
            node = node.children[self._likeliest([child.own for child in node.children])]
        return node, self._likeliest(self._members)

    def grow(self, parent: Node[State], member: int, state: State, reward: float) -> None:
        """Add a child made by a model. Its reward, from 0 to 1, counts for the model and all nodes above it."""
        child = Node(parent, state)
        parent.children.append(child)
        for belief in (self._members[member], child.own, parent.wider):
            belief.rewards.append(reward)
        while parent.parent is not None:
            parent.own.rewards.append(reward)
            parent = parent.parent
            parent.deeper.rewards.append(reward)

    def _likeliest(self, beliefs: Sequence[Belief]) -> int:
        """Choose as often as a choice is expected to be the best; a single choice draws no random number."""
        if len(beliefs) == 1:
            return 0
        drawn = [belief.draw(self._random) for belief in beliefs]
        return drawn.index(max(drawn))


@dataclass(frozen=True, slots=True)
class Tree(Reminded):
    """Search a tree of programs: in each step, write a new program or repair the most promising earlier program.

    A program's reward is the share of gate tests that it passes, or 0 if the feedback hides how many tests passed. The
    search ends when a program passes all gate tests. If the role coder has several models, those whose
    programs received higher rewards are called more often.
    """

    several: ClassVar = ("coder",)
    draws_samples: ClassVar = True

    max_iterations: int = 50
    chain_of_thought: bool = True
    temperature: float = 0.8
    max_tokens: int = 1024

    def roles(self) -> tuple[str, ...]:
        return ("coder",)

    def solve(self, ctx: Context) -> str | None:
        brief = with_examples(ctx, self, coding.Brief(ctx.problem, chain_of_thought=self.chain_of_thought))
        best, lessons, tree = Best(), Lessons(), Branching[Attempt](ctx.random, ctx.members("coder"))
        for number in range(1, self.max_iterations + 1):
            node, member = tree.choose()
            prompt = self._repair(ctx, brief, node.state, lessons) if node.state else coding.first_attempt(brief)
            reply = ctx.ask("coder", prompt, Sampling(self.temperature, max_tokens=self.max_tokens), member)
            program = candidate(reply, ctx.problem)
            verdict = best.keep(program, ctx.test(program))
            if verdict.passed:
                break
            reward = verdict.tests_passed / verdict.tests_total if verdict.tests_total else 0.0
            tree.grow(node, member, Attempt(number, program, verdict), reward)
        return best.code

    def _repair(self, ctx: Context, brief: coding.Brief, attempt: Attempt, lessons: Lessons) -> Prompt:
        return next_attempt(brief, [attempt], lessons=lessons_on(ctx, self, attempt.verdict, lessons))
