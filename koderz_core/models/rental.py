"""What the weights of a local model cost where they are rented: the other price that owning them is held against."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from koderz_core.models.price_list import listed
from koderz_core.records import Usage

HOST = "openrouter"

# The names under which OpenRouter rents out the same weights (its list of models, November 2026); of names without a
# size, those that Ollama's library means by them (its tags, November 2026).
HOSTED: Mapping[str, str] = {
    "gpt-oss": "openai/gpt-oss-20b",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "qwen2.5-coder": "qwen/qwen2.5-coder-7b-instruct",
    "qwen2.5-coder-7b": "qwen/qwen2.5-coder-7b-instruct",
    "qwen2.5-coder-32b": "qwen/qwen-2.5-coder-32b-instruct",
    "qwen2.5-7b": "qwen/qwen-2.5-7b-instruct",
    "qwen2.5-72b": "qwen/qwen-2.5-72b-instruct",
    "qwen3": "qwen/qwen3-8b",
    "qwen3-8b": "qwen/qwen3-8b",
    "qwen3-14b": "qwen/qwen3-14b",
    "qwen3-32b": "qwen/qwen3-32b",
    "qwen3-30b": "qwen/qwen3-30b-a3b",
    "qwen3-30b-a3b": "qwen/qwen3-30b-a3b",
    "qwen3-coder": "qwen/qwen3-coder-30b-a3b-instruct",
    "qwen3-coder-30b": "qwen/qwen3-coder-30b-a3b-instruct",
    "qwen3-coder-30b-a3b": "qwen/qwen3-coder-30b-a3b-instruct",
    "qwen3-coder-next": "qwen/qwen3-coder-next",
    "qwen3.5-9b": "qwen/qwen3.5-9b",
    "qwen3.6-27b": "qwen/qwen3.6-27b",
    "qwen3.6-35b-a3b": "qwen/qwen3.6-35b-a3b",
    "qwq": "qwen/qwq-32b",
    "qwq-32b": "qwen/qwq-32b",
    "llama3.1": "meta-llama/llama-3.1-8b-instruct",
    "llama3.1-8b": "meta-llama/llama-3.1-8b-instruct",
    "llama3.1-70b": "meta-llama/llama-3.1-70b-instruct",
    "llama3.2": "meta-llama/llama-3.2-3b-instruct",
    "llama3.2-3b": "meta-llama/llama-3.2-3b-instruct",
    "llama3.2-1b": "meta-llama/llama-3.2-1b-instruct",
    "llama3.3": "meta-llama/llama-3.3-70b-instruct",
    "llama3.3-70b": "meta-llama/llama-3.3-70b-instruct",
    "gemma3": "google/gemma-3-4b-it",
    "gemma3-4b": "google/gemma-3-4b-it",
    "gemma3-12b": "google/gemma-3-12b-it",
    "gemma3-27b": "google/gemma-3-27b-it",
    "gemma4-31b": "google/gemma-4-31b-it",
    "gemma4-26b": "google/gemma-4-26b-a4b-it",
    "gemma4-26b-a4b": "google/gemma-4-26b-a4b-it",
    "phi4": "microsoft/phi-4",
    "phi4-14b": "microsoft/phi-4",
    "granite4.2-8b": "ibm-granite/granite-4.2-8b",
    "nemotron3-nano-30b-a3b": "nvidia/nemotron-3-nano-30b-a3b",
}

# Words that tell how weights are packed, not which they are.
_PACKING = (
    r"(-(instruct|it|chat|latest|gguf|awq|gptq|mlx|hf|mxfp4|b?fp?(4|8|16)|int[48]|[2-8]bit|i?q\d|k|[sml]|xs|0|1))*"
)


def hosted(name: str) -> str | None:
    """The name under which the weights of a local model are rented out; None if they are not, or it is not known."""
    plain = re.sub(r"[:_\s]+", "-", name.lower().rpartition("/")[2])
    plain = re.sub(r"^(llama|gemma|phi|granite|nemotron|qwen|meta-llama)-(?=\d)", r"\1", plain)
    plain = re.sub(r"^meta-", "", plain)
    bare = re.sub(f"{_PACKING}$", "", plain)
    return HOSTED.get(bare)


def rental_usd(name: str, usage: Usage, at: datetime | None = None) -> float | None:
    """US dollars for the same tokens from the same weights at OpenRouter; None if that is not known."""
    model = hosted(name)
    if model is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return listed(model, usage, at, {"provider_id": HOST}).usd
