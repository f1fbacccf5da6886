"""Costs computed by hand from the publishers' price pages of November 2026: what stands here is the result, in USD."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price
from koderz_core.records import Cost, Usage

NOVEMBER_2026 = datetime(2026, 11, 20, 12, tzinfo=UTC)
ROUTER = "https://openrouter.ai/api/v1"
MINE = """
["openai/mine".price]
input_usd_per_mtok = 2
output_usd_per_mtok = 8
cache_read_usd_per_mtok = 0.5
cache_write_usd_per_mtok = 3
source = "our contract"
date = 2026-03-01
"""


def cost_of(name: str, usage: Usage, seconds: float = 1.0, at: datetime = NOVEMBER_2026, **given: object) -> Cost:
    settings = load_settings(**given)
    return price(resolve(name, settings), usage, seconds, settings, at)


def state(settings: Settings, text: str) -> None:
    settings.home.mkdir(exist_ok=True)
    (settings.home / "models.toml").write_text(text)


@pytest.mark.parametrize(
    ("name", "usage", "usd"),
    [  # input (with what a cache held), output, read from a cache, written to one, how it was processed
        ("gpt-4o", Usage(10_000, 1_000), 0.035),  # 0.025 + 0.01
        ("gpt-4o", Usage(10_000, 1_000, 4_000), 0.03),  # 0.015 + 0.005 read + 0.01
        ("gpt-6-luna", Usage(10_000, 1_000, 0, 8_000), 0.0017),  # 0.0002 + 0.001 written + 0.0005
        ("claude-opus-5-5", Usage(10_000, 1_000, 2_000, 3_000), 0.0554),  # 0.02 + 0.0004 read + 0.015 written + 0.02
        ("claude-haiku-5-5", Usage(100_000, 1_000), 0.0105),  # up to 100k the low price: 0.01 + 0.0005
        ("claude-haiku-5-5", Usage(100_001, 1_000), 0.0525005),  # one token more: five times it, for all of them
        ("claude-haiku-5-5", Usage(200_000, 1_000, 100_000), 0.0575),  # 0.05 + 0.005 read + 0.0025
        ("gpt-6-astra", Usage(300_000, 1_000), 6.075),  # above 272k twice 10 in, 1.5 times 50 out: 6 + 0.075
        ("gpt-6-luna", Usage(10_000, 1_000, service_tier="flex"), 0.00075),  # half
        ("gpt-6-luna", Usage(300_000, 1_000, service_tier="batch"), 0.030375),  # half of 0.2 and 0.75
        ("claude-opus-5-5", Usage(10_000, 1_000, service_tier="batch"), 0.03),  # half of 0.04 + 0.02
        ("gpt-6.1-sol", Usage(10_000, 1_000, service_tier="priority"), 0.06),  # twice 0.02 + 0.01
        ("gpt-6.1-sol", Usage(10_000, 1_000, service_tier="default"), 0.03),
        ("claude-sonnet-5-5", Usage(10_000, 1_000, service_tier="standard"), 0.03),
    ],
)
def test_paid_calls(name: str, usage: Usage, usd: float) -> None:
    cost = cost_of(name, usage)
    assert cost.usd == pytest.approx(usd, rel=1e-12)
    assert (cost.kwh, cost.rental_usd) == (None, None)


@pytest.mark.parametrize(
    ("at", "usd"), [(datetime(2025, 6, 9, tzinfo=UTC), 0.14), (datetime(2025, 6, 11, tzinfo=UTC), 0.028)]
)
def test_a_call_costs_what_the_list_said_on_its_day(at: datetime, usd: float) -> None:
    assert cost_of("o3", Usage(10_000, 1_000), at=at).usd == pytest.approx(usd)  # 10 and 40 became 2 and 8


def test_a_way_of_processing_that_has_a_price_of_its_own_is_named() -> None:
    assert cost_of("gpt-6-luna", Usage(1, 1, service_tier="flex")).source.endswith("openai/gpt-6-luna, flex")
    assert cost_of("gpt-6-luna", Usage(1, 1, service_tier="<b>")).source.endswith("openai/gpt-6-luna")


def test_free_is_zero_and_says_so_and_unknown_is_none() -> None:
    free = cost_of("openai/qwen/qwen3-coder:free", Usage(10_000, 1_000), openai_base_url=ROUTER)
    assert (free.usd, free.source[:8]) == (0.0, "free in ")
    for unknown in ("openai/qwen/imaginary:free", "openai/no-such-model"):
        cost = cost_of(unknown, Usage(10_000, 1_000), openai_base_url=ROUTER)
        assert (cost.usd, cost.source[:9]) == (None, "unpriced:")


def test_an_entry_without_any_price_is_not_free() -> None:
    cost = cost_of("openai/qwen-3-coder-480b", Usage(10_000, 1_000), openai_base_url="https://api.cerebras.ai/v1")
    assert cost.usd is None
    assert "without a price" in cost.source


@pytest.mark.parametrize(
    ("usage", "kwh", "usd"),
    [  # 36 s at 100 W and 0.30 USD/kWh on a machine of 0.50 USD/h
        (Usage(), 0.001, 0.0053),  # 0.0003 for 1 Wh, 0.005 for 0.01 h
        (Usage(machine_seconds=9.0), 0.00025, 0.001325),  # it had a quarter of the machine
        (Usage(machine_seconds=36.0, gpu_joules=7200.0), 0.003, 0.0059),  # and its GPU drew 2 Wh
        (Usage(machine_seconds=36.0, gpu_joules=7200.0, cpu_joules=1800.0), 0.0025, 0.00575),  # not 1 Wh
    ],
)
def test_local_calls(usage: Usage, kwh: float, usd: float) -> None:
    cost = cost_of("qwen2.5-coder:14b", usage, 36.0, local_watts=100, usd_per_kwh=0.3, local_usd_per_hour=0.5)
    assert (cost.usd, cost.kwh) == (pytest.approx(usd), pytest.approx(kwh))
    assert cost.rental_usd is None  # nobody rents these weights out
    assert ("GPUs as measured" in cost.source) is (usage.gpu_joules is not None)
    assert cost.source.startswith("100 W" if usage.cpu_joules is None else "processors as measured")


@pytest.mark.parametrize(
    ("name", "rental_usd"),
    [
        ("qwen2.5-coder:32b-instruct-q4_K_M", 0.0076),  # 0.66 and 1
        ("ollama/gpt-oss", 0.00044),  # 0.03 and 0.14
        ("vllm/Qwen/Qwen2.5-Coder-7B-Instruct-AWQ", 0.0022),  # 0.20 and 0.20
        ("lmstudio/meta-llama/Llama-3.1-8B-Instruct", 0.00058),  # 0.05 and 0.08
        ("embedded/qwen2.5-coder-0.5b", None),
        ("ollama/qwen3-coder:480b", None),
    ],
)
def test_beside_a_local_call_stands_what_the_same_weights_cost_where_they_are_rented(
    name: str, rental_usd: float | None
) -> None:
    found = cost_of(name, Usage(10_000, 1_000)).rental_usd
    assert found == (None if rental_usd is None else pytest.approx(rental_usd))


def test_what_a_person_states_wins_and_tells_its_source_and_date(settings: Settings) -> None:
    state(settings, MINE)
    cost = cost_of("openai/mine", Usage(10_000, 1_000, 4_000, 1_000))
    assert cost.usd == pytest.approx(0.023)  # 5k fresh 0.01, 4k read 0.002, 1k written 0.003, 0.008
    assert cost.source == "models.toml: our contract, 2026-03-01"


def test_a_stated_price_stands_above_the_list_and_above_energy(settings: Settings) -> None:
    flat = 'input_usd_per_mtok = 1\noutput_usd_per_mtok = 1\nsource = "s"\ndate = 2026-01-01\n'
    state(settings, f'["openai/gpt-4o".price]\n{flat}[vllm.price]\n{flat}')
    for name in ("gpt-4o", "vllm/anything"):
        assert cost_of(name, Usage(10_000, 1_000, 5_000)).usd == pytest.approx(
            0.011
        )  # no price of a cache: as the rest
    assert cost_of("vllm/anything", Usage(10_000, None)).usd is None
    assert cost_of("vllm/anything", Usage(10, 1, 11)).usd is None
