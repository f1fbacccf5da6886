"""What a configuration causes stays in its denominator, and what has no result is bounded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.config import load_settings

WEAK = {"coder": "scripted/weak"}
REPAIR = {"spec": False, "checkpoints": False, "max_iterations": 3, "history_tokens": 6000}


@pytest.fixture
def short_context() -> Iterator[Workspace]:
    """Where the weak model has so little context that many prompts of a loop outgrow it."""
    home = load_settings().home
    home.mkdir(parents=True)
    (home / "models.toml").write_text('["scripted/weak"]\ncontext_tokens = 130\n')
    with open_workspace() as opened:
        yield opened


def test_a_loop_whose_prompts_outgrow_the_context_keeps_every_problem_in_its_rate(short_context: Workspace) -> None:
    plan = short_context.plan(Order([Wanted("supervised", WEAK, REPAIR), Wanted("direct", WEAK)], "0:60"))
    short_context.run(plan)
    found = short_context.comparing.compare(short_context.results.summaries(plan.id))
    rates = {one.strategy: (one.solved, one.n, one.errors) for one in found.configurations}
    assert rates == {"supervised": (32, 60, 0), "direct": (20, 60, 0)}
    (pair,) = found.pairs
    assert (pair.test.n, pair.test.unpaired, pair.told_apart) == (60, 0, False)
    ended = [one for one in short_context.results.experiments(plan.id) if one.reason == "context"]
    assert len(ended) > 20
    assert all(one.outcome == "unsolved" and "so it was not sent" in (one.error or "") for one in ended)
