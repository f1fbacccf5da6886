"""What a person states of models in `models.toml`, and what is said of a mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from koderz_core import open_workspace
from koderz_core.config import Settings, load_settings
from koderz_core.errors import ConfigError
from koderz_core.models.catalogue import resolve
from koderz_core.models.models_file import NOTHING, stated
from koderz_core.models.providers import capabilities_of
from koderz_core.records import Usage

PRICE = "input_usd_per_mtok = 1\noutput_usd_per_mtok = 1\ndate = 2026-01-01\n"


@pytest.fixture
def file(settings: Settings) -> Path:
    settings.home.mkdir()
    return settings.home / "models.toml"


def test_without_the_file_nothing_is_stated(settings: Settings) -> None:
    assert stated("openai/gpt-4o", settings) == stated("vllm/a", settings)
    assert stated("vllm/a", settings).tier is None


def test_what_is_said_of_a_model_stands_above_what_is_said_of_its_provider(file: Path, settings: Settings) -> None:
    file.write_text(
        '[vllm]\ntier = "frontier"\ncontext_tokens = 9000\n[vllm.capabilities]\nseed = false\ntop_p = false\n'
        '["vllm/a"]\ncontext_tokens = 5000\n["vllm/a".capabilities]\nseed = true\n'
    )
    a, b = capabilities_of("vllm/a", settings), capabilities_of("vllm/b", settings)
    assert (a.context_tokens, a.seed, a.top_p) == (5000, True, False)
    assert (b.context_tokens, b.seed, b.top_p) == (9000, False, False)
    assert a.source.endswith("models.toml")
    assert resolve("vllm/a", settings).tier == "frontier"


def test_a_tier_in_the_settings_stands_above_the_file_if_it_is_about_the_same(file: Path) -> None:
    file.write_text('["vllm/a"]\ntier = "frontier"\n')
    assert resolve("vllm/a", load_settings(tiers={"vllm": "local"})).tier == "frontier"
    assert resolve("vllm/a", load_settings(tiers={"vllm/a": "local"})).tier == "local"


def test_a_change_of_the_file_is_seen(file: Path, settings: Settings) -> None:
    file.write_text('["vllm/a"]\ncontext_tokens = 1\n')
    assert capabilities_of("vllm/a", settings).context_tokens == 1
    file.write_text('["vllm/a"]\ncontext_tokens = 200\n')
    assert capabilities_of("vllm/a", settings).context_tokens == 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["openai/a"]\ntire = "local"\n', 'in table ["openai/a"], key tire: unknown (did you mean: tier)'),
        ('["openai/a"]\ntier = "big"\n', 'in table ["openai/a"], key tier: input should be'),
        (
            '["openai/a".capabilities]\nseeds = true\n',
            'in table ["openai/a".capabilities], key seeds: unknown (did you',
        ),
        (
            '["openai/a".capabilities]\nthinking = "much"\n',
            'in table ["openai/a".capabilities], key thinking: input should',
        ),
        (f'["openai/a".price]\n{PRICE}', 'in table ["openai/a".price], key source: field required'),
        (
            f'["openai/a".price]\n{PRICE}source = "s"\noutput_usd = 1',
            'in table ["openai/a".price], key output_usd: unknown',
        ),
        (
            '["openai/a".price]\ninput_usd_per_mtok = 1e308\n',
            'in table ["openai/a".price], key input_usd_per_mtok: input should be less than or equal to 1000000',
        ),
        (
            '["openai/a".price]\ninput_usd_per_mtok = -1\n',
            'in table ["openai/a".price], key input_usd_per_mtok: input should',
        ),
        ('["opnai/a"]\ntier = "local"\n', 'the name of table ["opnai/a"] does not start with a provider'),
        ("[openai]\nprice = 3\n", 'in table ["openai"], key price: input should'),
        ("tier = ", "is not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_the_file_the_table_and_the_key(
    file: Path, settings: Settings, text: str, said: str
) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        capabilities_of("openai/a", settings)
    assert str(file) in str(caught.value)
    assert said in str(caught.value)


def test_a_file_that_is_no_text_is_told(file: Path, settings: Settings) -> None:
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        resolve("vllm/a", settings)


def test_a_folder_that_is_none_holds_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert stated("openai/it", load_settings(home=tmp_path / "file" / "home")) == NOTHING


def test_a_mistake_that_is_saved_while_a_call_runs_makes_its_cost_unknown_and_loses_no_answer(file: Path) -> None:
    with open_workspace() as opened:
        file.write_text("[")
        cost = opened.runs._price("openai/gpt-4o", Usage(10, 10), 1.0)
    assert cost.usd is None
    assert "models.toml is not valid TOML" in cost.source
