"""A real embedded model, where its weights and xllamacpp are there."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from koderz_core.config import load_settings
from koderz_core.errors import ContextError
from koderz_core.models import weights
from koderz_core.models.embedded import EmbeddedModel
from koderz_core.records import Completion, Message, Request, Sampling


@pytest.fixture(scope="module")
def real() -> Iterator[EmbeddedModel]:
    settings = load_settings(num_ctx=512, reproducible=True)
    known = (weights.weights_of(name) for name in ("embedded/smollm2-135m", "qwen2.5-coder-0.5b"))
    here = [model for model in known if weights.find(model, settings)]
    if not here or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("needs xllamacpp and `koderz models pull smollm2-135m`")
    model = EmbeddedModel(here[0], settings)
    yield model
    model.close()


def say(text: str, sampling: Sampling, seed: int = 1) -> Request:
    return Request((Message("user", text),), sampling, seed)


def ask(model: EmbeddedModel, text: str, seed: int = 1, temperature: float = 0.8) -> Completion:
    return model.complete(say(text, Sampling(temperature=temperature, max_tokens=24), seed))


def test_a_real_model_answers_within_its_limit(real: EmbeddedModel) -> None:
    heard: list[str] = []
    answer = real.complete(say("Count from 1 to 99.", Sampling(temperature=0.0, max_tokens=8)), heard.append)
    assert (answer.finish, answer.usage.output_tokens) == ("length", 8)
    assert answer.text == "".join(heard) != ""
    assert answer.usage.input_tokens
    assert answer.usage.input_tokens > 8


def test_a_real_model_repeats_itself_for_the_same_seed_only(real: EmbeddedModel) -> None:
    first = ask(real, "Write a poem.", seed=1).text
    others = [ask(real, "Write a poem.", seed=seed).text for seed in (2, 3, 4)]
    assert ask(real, "Write a poem.", seed=1).text == first
    assert set(others) != {first}


def test_a_text_that_is_proposed_from_the_prompt_repeats_itself_too(real: EmbeddedModel) -> None:
    program = "def mean(numbers):\n    total = sum(numbers)\n    return total / len(numbers)\n"
    request = say(f"Copy this program:\n{program}{program}", Sampling(temperature=0.8, max_tokens=48), 5)
    first = real.complete(request).text
    ask(real, "Write a poem.")
    assert real.complete(request).text == first


def test_a_real_model_refuses_a_prompt_beyond_its_context_and_goes_on(real: EmbeddedModel) -> None:
    with pytest.raises(ContextError, match="KODERZ_NUM_CTX"):
        ask(real, "word " * 2000)
    assert ask(real, "Say hello.").text


def test_the_beginning_of_a_prompt_is_read_once_unless_texts_must_repeat_themselves(real: EmbeddedModel) -> None:
    assert [ask(real, "Write a long poem.").usage.cache_read_tokens for _ in range(2)] == [0, 0]
    quick = EmbeddedModel(weights.weights_of(real.id), load_settings(num_ctx=512))
    try:
        first, second = (ask(quick, "Write a long poem.").usage for _ in range(2))
    finally:
        quick.close()
    assert first.cache_read_tokens == 0
    assert second.cache_read_tokens
    assert second.input_tokens == first.input_tokens
