"""The most that a call can cost: never less than what it does cost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.config import Settings, load_settings
from koderz_core.models.catalogue import resolve
from koderz_core.models.embedded import WHOLE_TIMES
from koderz_core.models.pricing import price
from koderz_core.models.worst_case import WorstCases, unpriced
from koderz_core.records import Message, Request, Sampling, Usage

SETTINGS = load_settings(timeout=60.0)
CASES = WorstCases(SETTINGS)
PRICED = ("openai/gpt-4o", "anthropic/claude-opus-4-5", "anthropic/claude-sonnet-4-5")


def request(text: str, max_tokens: int | None) -> Request:
    return Request((Message("user", text),), Sampling(max_tokens=max_tokens), seed=0)


@given(
    st.sampled_from(PRICED),
    st.integers(0, 300_000),
    st.integers(1, 9000),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_no_answer_costs_more(
    model: str, size: int, longest: int, packed: float, answered: float, cached: float
) -> None:
    most = CASES.of(model, request("x" * size, longest))
    sent = int(size * packed)
    usage = Usage(sent, int(longest * answered), cache_write_tokens=int(sent * cached))
    cost = price(resolve(model, SETTINGS), usage, 1.0, SETTINGS).usd
    assert most is not None
    assert cost is not None
    assert cost <= most


def test_every_byte_of_a_text_counts_and_not_its_characters() -> None:
    assert CASES.of(PRICED[0], request("語" * 1000, 1)) == CASES.of(PRICED[0], request("x" * 3000, 1))


def test_a_local_model_costs_at_most_the_time_that_a_request_may_take() -> None:
    card = resolve("ollama/qwen3:8b", SETTINGS)
    assert CASES.of(card.id, request("x", None)) == price(card, Usage(1, 1), 60.0, SETTINGS).usd
    card = resolve("embedded/qwen2.5-coder-0.5b", SETTINGS)
    assert CASES.of(card.id, request("x", None)) == price(card, Usage(1, 1), WHOLE_TIMES * 60.0, SETTINGS).usd


def test_an_answer_without_a_limit_has_no_worst_case() -> None:
    assert CASES.of(PRICED[0], request("x", None)) is None


def test_an_answer_of_a_local_model_without_a_limit_has_no_worst_case_if_its_tokens_have_a_stated_price(
    settings: Settings,
) -> None:
    settings.home.mkdir()
    stated = 'input_usd_per_mtok = 1\nsource = "a"\ndate = 2026-11-01\noutput_usd_per_mtok ='
    (settings.home / "models.toml").write_text(
        f'["ollama/qwen3:8b".price]\n{stated} 10\n["ollama/qwen3:4b".price]\n{stated} 0\n'
    )
    cases, card = WorstCases(settings), resolve("ollama/qwen3:8b", settings)
    assert card.tier == "local"
    assert cases.of(card.id, request("x", None)) is None
    most, cost = cases.of(card.id, request("x", 1000)), price(card, Usage(1, 1000), 60.0, settings).usd
    assert most is not None
    assert cost is not None
    assert most >= cost >= 0.01
    assert cases.of("ollama/qwen3:4b", request("x", None)) is not None  # only its prompt has a price


@pytest.mark.parametrize("model", ["openai/nobody-knows", "anthropic/nobody-knows", "scripted/gone"])
def test_a_model_without_a_price_is_named(model: str) -> None:
    assert unpriced([PRICED[0], model, "scripted/weak", "ollama/qwen3:8b"], SETTINGS) == (model,)


def test_what_a_model_thinks_is_part_of_its_answer() -> None:
    most = CASES.of("anthropic/claude-opus-5-5", request("x", 1))
    assert most is not None
    assert most > 16_384 * 20e-6  # the allowance at its price


def test_where_openai_may_choose_how_to_process_a_call_the_dearest_way_counts() -> None:
    chosen = WorstCases(load_settings(openai_service_tier="auto")).of("openai/gpt-6-luna", request("x", 1))
    usual = CASES.of("openai/gpt-6-luna", request("x", 1))
    assert usual is not None
    assert chosen == pytest.approx(2 * usual)


@pytest.mark.parametrize("hour", [0, 2, 12])
def test_where_prices_rise_by_the_hour_the_dearest_one_that_may_come_counts(hour: int) -> None:
    settings = load_settings(openai_base_url="https://api.deepseek.com/v1")
    cases = WorstCases(settings, lambda: datetime(2026, 11, 20, hour, tzinfo=UTC))
    card, usage = resolve("openai/deepseek-v4-pro", settings), Usage(1000, 1000)
    most = cases.of(card.id, request("x" * 1000, 1000))
    peak = price(card, usage, 1.0, settings, datetime(2026, 11, 20, 2, tzinfo=UTC)).usd
    night = price(card, usage, 1.0, settings, datetime(2026, 11, 20, 20, tzinfo=UTC)).usd
    assert peak is not None
    assert night is not None
    assert most is not None
    assert night < peak <= most


def test_a_budget_holds_the_list_price_of_a_model_behind_a_proxy_on_this_machine() -> None:
    proxy = load_settings(openai_base_url="http://localhost:4000/v1")
    asked = request("x" * 1000, 100)
    assert WorstCases(proxy).of("openai/gpt-4o-mini", asked) == CASES.of("openai/gpt-4o-mini", asked)


@pytest.mark.parametrize(
    ("urls", "tier", "factor"),
    [
        ("http://localhost:4000/v1", "flex", 1),
        ("http://localhost:4000/v1", "priority", 1),
        ("http://localhost:4000/v1 https://api.openai.com/v1", "flex", 1),
        ("http://localhost:4000/v1 https://api.openai.com/v1", "priority", 2),
        ("https://api.openai.com/v1", "flex", 0.5),
    ],
)
def test_a_proxy_that_is_not_asked_for_a_service_tier_may_cost_the_standard_price(
    urls: str, tier: str, factor: float
) -> None:
    settings, asked = load_settings(openai_base_url=urls, openai_service_tier=tier), request("x" * 1000, 1000)
    standard = CASES.of("openai/gpt-6-luna", asked)
    assert standard is not None
    assert WorstCases(settings).of("openai/gpt-6-luna", asked) == pytest.approx(factor * standard)


def test_a_price_that_the_user_changes_while_a_benchmark_runs_is_reserved_from_then_on(settings: Settings) -> None:
    cases, asked, most = WorstCases(settings), request("x" * 1000, 1000), list[float | None]()
    settings.home.mkdir()
    for usd in (1, 10):
        price_of_it = f'input_usd_per_mtok = {usd}\noutput_usd_per_mtok = {usd}\nsource = "a"\ndate = 2026-11-01\n'
        (settings.home / "models.toml").write_text(f'["openai/gpt-4o".price]\n{price_of_it}')
        most.append(cases.of("openai/gpt-4o", asked))
    assert most[0] is not None
    assert most[1] == pytest.approx(10 * most[0])
