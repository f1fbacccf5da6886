"""Benchmarks whose calls are answered from the response cache, and what never is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import load_settings
from koderz_core.errors import ModelError, PlanError
from koderz_core.events import CallFinished, ExperimentFinished
from koderz_core.events.lines import encode
from koderz_core.models.answer_cache import FILE, AnswerCache, Served
from koderz_core.records import Request, Usage
from koderz_core.records.plans import CACHE
from koderz_core.runner.budget import Spending
from koderz_core.runner.reuse import Reuse

Make = Callable[..., Any]
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"


def cached(made: Any, folder: Path, name: str) -> Any:
    """The same plan with the cache, as another benchmark with a journal of its own."""
    made.plan = replace(made.plan, name=name, conditions={CACHE: True})
    made.path = folder / f"{name}.jsonl"
    made.reuse = Reuse(AnswerCache(folder / FILE, 1e6), Served(load_settings(), lambda *_: "1"), lambda: 9.0)
    return made


def answers(made: Any) -> list[CallFinished]:
    return [entry.event for entry in made.entries() if isinstance(entry.event, CallFinished)]


def test_a_second_benchmark_gets_the_answers_of_the_first_at_no_cost(bench: Make, tmp_path: Path) -> None:
    first = cached(bench(lambda _: RIGHT), tmp_path, "first")
    first.go()
    second = cached(bench(lambda _: WRONG), tmp_path, "second")
    second.go()
    (made,), (again,) = answers(first), answers(second)
    assert (len(first.requests), len(second.requests)) == (1, 0)
    assert not made.cached
    assert again.cached
    assert (again.cached.cost, again.cached.seconds, again.cached.at) == (made.cost, made.seconds, 9.0)
    assert (again.text, again.finish, again.honoured, again.cost.usd) == (made.text, made.finish, made.honoured, 0.0)
    spending = Spending()
    for entry in second.entries():
        spending.add(entry)
    assert sum(spending.total().values()) == 0


def test_no_measured_time_or_energy_of_the_original_call_is_measured_again(bench: Make, tmp_path: Path) -> None:
    cache, used = AnswerCache(tmp_path / FILE, 1e6), Usage(3, 4, machine_seconds=1.0, gpu_joules=2.0, cpu_joules=3.0)
    made = cached(bench(lambda _: RIGHT), tmp_path, "first")
    made.go()
    (request,), (experiment,) = made.requests, made.plan.experiments()
    place = (made.plan.dataset.sha256, experiment.configuration, experiment.problem, 0, experiment.seed, 1)
    key = made.reuse.served.key("scripted/it", request, place)
    assert key
    kept = cache.find(key)
    assert kept
    cache.clear()
    cache.keep(key, replace(kept, completion=replace(kept.completion, usage=used)))
    again = cached(bench(lambda _: WRONG), tmp_path, "second")
    again.go()
    assert [answer.usage for answer in answers(again)] == [Usage(3, 4)]


def test_repeats_and_configurations_of_one_benchmark_never_share_an_answer(bench: Make, tmp_path: Path) -> None:
    """All requests have the same prompt and the same sampling, so only their places tell them apart."""
    made = cached(bench(lambda _: RIGHT), tmp_path, "one")
    (only,) = made.plan.configurations
    other = replace(only, parameters={**only.parameters, "max_tokens": 1024, "lessons": False})
    made.plan = replace(made.plan, configurations=(only, other), repeats=3)
    made.go()
    assert len({request.messages for request in made.requests}) == 1
    assert len(made.requests) == 6
    assert len({request.seed for request in made.requests}) == 6
    assert not any(answer.cached for answer in answers(made))


def test_another_place_with_the_same_request_and_seed_gets_no_answer(bench: Make, tmp_path: Path) -> None:
    """Seeds have 31 bits, so two calls of a large benchmark may have the same one: the place decides."""
    made = cached(bench(lambda _: RIGHT), tmp_path, "one")
    made.go()
    (experiment,) = made.plan.experiments()
    twin = replace(made.plan, name="two")
    place = (twin.dataset.sha256, "conf_other", experiment.problem, 0, experiment.seed, 1)
    (request,) = made.requests
    key = made.reuse.served.key("scripted/it", request, place)
    assert made.reuse.cache.find(key) is None
    own = (twin.dataset.sha256, experiment.configuration, experiment.problem, 0, experiment.seed, 1)
    assert made.reuse.cache.find(made.reuse.served.key("scripted/it", request, own)) is not None


def test_another_seed_of_the_plan_draws_again(bench: Make, tmp_path: Path) -> None:
    cached(bench(lambda _: RIGHT), tmp_path, "first").go()
    other = cached(bench(lambda _: RIGHT), tmp_path, "second")
    other.plan = replace(other.plan, seed=1)
    other.go()
    assert len(other.requests) == 1


def test_each_repeat_gets_the_answer_of_the_same_repeat(bench: Make, tmp_path: Path) -> None:
    def by_seed(request: Request) -> str:
        return f"{RIGHT}\n{request.seed}"

    first, second = (cached(bench(by_seed), tmp_path, name) for name in ("first", "second"))
    for made in (first, second):
        made.plan = replace(made.plan, repeats=4)
        made.go()
    texts = [sorted(str(answer.text) for answer in answers(made)) for made in (first, second)]
    assert not second.requests
    assert texts[0] == texts[1]
    assert len(set(texts[0])) == 4


def test_what_failed_is_kept_nowhere_and_every_kind_of_answer_is(bench: Make, tmp_path: Path) -> None:
    """A cut or empty answer is a result: to draw only those again would make a configuration look better."""

    def failing(_: Request) -> str:
        raise ModelError("the provider is down")

    cached(bench(failing), tmp_path, "broken").go()
    assert AnswerCache(tmp_path / FILE, 1e6).contents().answers == 0
    for name in ("first", "second"):
        made = cached(bench(lambda _: "many words " * 50, max_tokens=5), tmp_path, name)
        made.go()
    assert [(answer.finish, bool(answer.cached)) for answer in answers(made)] == [("length", True)]


def test_a_resumed_benchmark_replays_what_it_got_from_the_cache(bench: Make, tmp_path: Path) -> None:
    cached(bench(lambda _: WRONG, "repair", max_iterations=3), tmp_path, "first").go()
    made = cached(bench(lambda _: WRONG, "repair", max_iterations=3), tmp_path, "second")
    made.go()
    whole = made.entries()
    cut = next(at for at, entry in enumerate(whole) if isinstance(entry.event, CallFinished)) + 1
    made.path.write_bytes(b"".join(map(encode, whole[:cut])))
    (tmp_path / FILE).unlink()  # the rest are calls
    made.go()
    assert [bool(answer.cached) for answer in answers(made)] == [True, False, False]
    assert len(made.requests) == 2
    (end,) = (entry.event for entry in made.entries() if isinstance(entry.event, ExperimentFinished))
    assert end.outcome == "unsolved"


def test_without_the_cache_no_line_of_a_journal_names_it(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.go()
    assert "cached" not in made.path.read_text()


def test_a_benchmark_with_the_cache_is_not_extended_without_it(bench: Make, tmp_path: Path) -> None:
    made = cached(bench(lambda _: RIGHT), tmp_path, "one")
    made.go()
    made.plan = replace(made.plan, conditions={})
    with pytest.raises(PlanError, match="add --cache"):
        made.go()
