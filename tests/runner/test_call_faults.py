"""What becomes of an experiment when its provider fails, through the real clients and a server that does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from faulty_server import LASTING, MODELS, PASSING, FaultyServer, serving_faults
from sample import thinned

from koderz_core.config import load_settings
from koderz_core.events import CallFailed, CallFinished, ExperimentFinished
from koderz_core.models.catalogue import resolve
from koderz_core.models.machine import Machine, MeteredModel
from koderz_core.models.providers import create
from koderz_core.records import Cost
from koderz_core.runner.provider_limits import Policy

NAMES = ("vllm/coder", "anthropic/claude-opus-5-5", "ollama/qwen2.5-coder:7b")
ALL = pytest.mark.parametrize("name", NAMES)
BOTH = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
Make = Callable[..., Any]


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with serving_faults() as known:
        yield known


def experiment(bench: Make, name: str, url: str, streamed: bool) -> Any:
    """A benchmark of one experiment whose coder is asked at this server, with little patience."""
    addresses = {"vllm_base_url": f"{url}/v1", "anthropic_base_url": url, "ollama_base_url": url}
    keys = {"anthropic_api_key": "sk-test"}
    settings = load_settings(**addresses, **keys, timeout=1 if streamed else 0.4, first_token_timeout=0.3)
    made = bench(lambda _: "")
    made.model, made.streamed = create(resolve(name, settings), settings, dict), streamed
    made.policy = Policy(first_wait_seconds=0.01)
    return made


def of(made: Any, kind: type) -> list[Any]:
    return [entry.event for entry in made.entries() if isinstance(entry.event, kind)]


@BOTH
@ALL
@pytest.mark.parametrize("fault", thinned(PASSING, "faults of providers that pass"))
def test_trouble_that_passes_costs_an_attempt_and_no_experiment(
    bench: Make, server: FaultyServer, name: str, streamed: bool, fault: str
) -> None:
    faults = iter([fault])
    server.fault = lambda: next(faults, None)
    made = experiment(bench, name, server.url, streamed)
    made.go()
    (failed,) = of(made, CallFailed)
    assert failed.retryable
    assert failed.wait_seconds is not None
    assert of(made, ExperimentFinished)[0].outcome == "solved"
    assert len(server.asked) == 2


@ALL
@pytest.mark.parametrize("fault", LASTING)
def test_what_does_not_pass_is_asked_once_and_is_never_the_models_failure(
    bench: Make, server: FaultyServer, name: str, fault: str
) -> None:
    server.fault = lambda: fault
    made = experiment(bench, name, server.url, streamed=False)
    made.go()
    (failed,) = of(made, CallFailed)
    assert (failed.status, failed.wait_seconds) == (int(fault), None)
    assert of(made, ExperimentFinished)[0].outcome == "error"


def test_a_local_call_that_failed_has_a_cost_and_a_paid_one_has_none_that_is_known(
    bench: Make, server: FaultyServer
) -> None:
    server.fault = lambda: LASTING[0]
    paid = experiment(bench, NAMES[0], server.url, streamed=False)
    local = experiment(bench, NAMES[0], server.url, streamed=False)
    local.model, local.path = MeteredModel(local.model, Machine()), paid.path.with_name("local.jsonl")
    paid.go()
    local.go()
    assert [of(made, CallFailed)[0].cost for made in (paid, local)] == [None, Cost(0.25, "a test")]


@pytest.mark.parametrize("fault", thinned(PASSING, "faults of providers that stay"))
def test_trouble_that_does_not_end_is_never_the_models_failure(bench: Make, server: FaultyServer, fault: str) -> None:
    server.fault = lambda: fault
    made = experiment(bench, NAMES[0], server.url, streamed=True)
    made.policy = Policy(retries=1, first_wait_seconds=0.01)
    made.go()
    assert [failed.wait_seconds is None for failed in of(made, CallFailed)] == [False, True]
    assert of(made, ExperimentFinished)[0].outcome == "error"


@BOTH
@ALL
def test_an_answer_that_is_cut_off_at_its_limit_is_the_models(
    bench: Make, server: FaultyServer, name: str, streamed: bool
) -> None:
    server.fault = lambda: MODELS
    made = experiment(bench, name, server.url, streamed)
    made.go()
    assert [answer.finish for answer in of(made, CallFinished)] == ["length"]
    assert not of(made, CallFailed)
    assert of(made, ExperimentFinished)[0].outcome == "unsolved"


@ALL
def test_a_server_that_comes_back_is_found_again(bench: Make, name: str) -> None:
    with serving_faults() as before:
        port = before.port
    made = experiment(bench, name, f"http://127.0.0.1:{port}", streamed=False)
    made.policy = Policy(first_wait_seconds=0.2, longest_wait_seconds=0.2, random=lambda: 1.0)
    runner = made.runner()
    runner.start()
    while not of(made, CallFailed):
        assert not runner.ended(0.02)
    with serving_faults(port):
        runner.wait()
    assert "Nothing answers at" in of(made, CallFailed)[0].message
    assert of(made, ExperimentFinished)[0].outcome == "solved"


@ALL
def test_a_provider_that_says_when_to_come_back_is_obeyed(bench: Make, server: FaultyServer, name: str) -> None:
    faults = iter(["429, Retry-After 1"])
    server.fault = lambda: next(faults, None)
    made = experiment(bench, name, server.url, streamed=True)
    made.go()
    (failed,) = of(made, CallFailed)
    assert failed.retry_after_seconds == 1.0
    assert 1.0 <= failed.wait_seconds < 1.1
