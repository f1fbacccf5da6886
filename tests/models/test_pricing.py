"""What one call costs: checked by hand against the publishers' price pages of November 2026."""

from datetime import UTC, datetime

import pytest
from genai_prices.data_snapshot import DataSnapshot, get_snapshot, set_custom_snapshot

from koderz_core.config import Settings, load_settings
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price, price_version
from koderz_core.records import Usage

NOVEMBER_2026 = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "usage", "usd"),
    [  # input tokens (cached ones included), output tokens, read from cache, written to it
        ("gpt-4o-mini", Usage(10_000, 1_000, 0), 10_000 * 0.15e-6 + 1_000 * 0.60e-6),
        ("gpt-4o", Usage(10_000, 1_000, 4_000), 6_000 * 2.5e-6 + 4_000 * 1.25e-6 + 1_000 * 10e-6),
        ("gpt-4.1", Usage(10_000, 1_000, 0), 10_000 * 2e-6 + 1_000 * 8e-6),
        ("gpt-4.1-nano", Usage(10_000, 1_000, 10_000), 10_000 * 0.025e-6 + 1_000 * 0.40e-6),
        ("gpt-5-mini", Usage(10_000, 1_000, 0), 10_000 * 0.25e-6 + 1_000 * 2e-6),
        ("gpt-6-luna", Usage(10_000, 1_000, 0), 10_000 * 0.10e-6 + 1_000 * 0.50e-6),
        ("gpt-6-astra", Usage(300_000, 1_000, 0), 300_000 * 20e-6 + 1_000 * 75e-6),  # above 272k: x2 in, x1.5 out
        ("claude-opus-4-5", Usage(10_000, 1_000, 2_000, 3_000), 0.025 + 2_000 * 0.5e-6 + 3_000 * 6.25e-6 + 0.025),
        ("claude-haiku-5-5", Usage(200_000, 1_000, 0), 200_000 * 0.50e-6 + 1_000 * 2.5e-6),  # above 100k: x5
        ("claude-sonnet-5-5", Usage(10_000, 1_000, 0), 10_000 * 2e-6 + 1_000 * 10e-6),
    ],
)
def test_paid_calls_cost_what_the_price_page_says(name: str, usage: Usage, usd: float, settings: Settings) -> None:
    cost = price(resolve(name, settings), usage, 3.0, settings, NOVEMBER_2026)
    assert cost.usd == pytest.approx(usd, rel=1e-9)
    assert name in cost.source
    assert price_version() in cost.source


def test_two_small_calls_are_not_priced_like_one_large(settings: Settings) -> None:
    card = resolve("claude-haiku-5-5", settings)
    small = price(card, Usage(60_000, 0, 0), 1.0, settings, NOVEMBER_2026).usd
    large = price(card, Usage(120_000, 0, 0), 1.0, settings, NOVEMBER_2026).usd
    assert small is not None
    assert large == pytest.approx(10 * small)


@pytest.mark.parametrize("usage", [Usage(), Usage(10, None), Usage(None, 10), Usage(10, 10, 99)])
def test_tokens_that_are_unknown_or_impossible_leave_the_price_unknown(usage: Usage, settings: Settings) -> None:
    cost = price(resolve("gpt-4o", settings), usage, 1.0, settings)
    assert cost.usd is None
    assert cost.source.startswith("unpriced")


def test_a_model_without_a_known_price_is_unpriced_not_free(settings: Settings) -> None:
    cost = price(resolve("gpt-99-imaginary", settings), Usage(10, 10, 0), 1.0, settings)
    assert cost.usd is None
    assert cost.source.startswith("unpriced")


@pytest.mark.parametrize("address", ["https://proxy.example", "http://localhost:4000"])
@pytest.mark.parametrize("name", ["gpt-4o-mini", "claude-opus-4-5", "openai/openai/gpt-4o", "openai/claude-opus-4-5"])
def test_a_model_with_a_list_price_costs_that_behind_any_proxy(name: str, address: str) -> None:
    proxy, used = load_settings(openai_base_url=f"{address}/v1", anthropic_base_url=address), Usage(1000, 1000, 0)
    at_home = resolve(name.rpartition("/")[2], load_settings())
    assert price(resolve(name, proxy), used, 1.0, proxy).usd == price(at_home, used, 1.0, load_settings()).usd


def test_who_sells_models_under_prices_of_their_own_is_priced_by_these() -> None:
    router = load_settings(openai_base_url="https://openrouter.ai/api/v1")
    assert "openrouter/" in price(resolve("openai/openai/gpt-4o", router), Usage(10, 10, 0), 1.0, router).source


def test_an_unknown_name_behind_a_proxy_elsewhere_has_no_price() -> None:
    proxy = load_settings(openai_base_url="https://proxy.example/v1")
    assert price(resolve("openai/our-own", proxy), Usage(10, 10, 0), 1.0, proxy).usd is None


def test_a_local_call_costs_its_energy_and_the_wear_of_the_machine() -> None:
    settings = load_settings(local_watts=100, usd_per_kwh=0.30, local_usd_per_hour=0.5)
    cost = price(resolve("gpt-oss:20b", settings), Usage(), 36.0, settings)
    assert cost.usd == pytest.approx(0.0003 + 0.005)  # 1 Wh, 0.01 h
    assert cost.source == "100 W at 0.3 USD/kWh + 0.5 USD/h"


@pytest.mark.parametrize("tiers", [{}, {"ollama": "local"}])
def test_a_model_that_runs_in_ollamas_cloud_costs_not_this_machines_energy(tiers: dict[str, str]) -> None:
    settings = load_settings(tiers=tiers)
    cost = price(resolve("gpt-oss:120b-cloud", settings), Usage(10, 10), 36.0, settings)
    assert cost.usd is None
    assert cost.source.startswith("unpriced: ollama/gpt-oss:120b-cloud runs at https://ollama.com")


def test_a_machine_without_power_and_wear_costs_nothing() -> None:
    settings = load_settings(local_watts=0, local_usd_per_hour=0)
    assert price(resolve("gpt-oss:20b", settings), Usage(1, 1), 60.0, settings).usd == 0.0


def test_a_scripted_call_is_free_and_says_why(settings: Settings) -> None:
    cost = price(resolve("scripted/strong", settings), Usage(), 60.0, settings)
    assert (cost.usd, cost.source) == (0.0, "scripted")


def test_a_list_that_was_fetched_since_is_named_by_its_time() -> None:
    fetched = DataSnapshot(get_snapshot().providers, from_auto_update=True, timestamp=NOVEMBER_2026)
    set_custom_snapshot(fetched)
    try:
        assert price_version().endswith(" of 2026-11-20 12:00")
    finally:
        set_custom_snapshot(None)
    assert " of " not in price_version()
