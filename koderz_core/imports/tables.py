"""The fields of tables of results, and the texts in which a user maps them to columns and states prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from koderz_core import input_tables
from koderz_core.errors import UsageError
from koderz_core.grading.grader import KINDS
from koderz_core.input_tables import Columns

FIELDS: Mapping[str, str] = {
    "model": "the model",
    "problem": "the id of the problem",
    "dataset": "the dataset of the problem",
    "prompt": "the prompt of the problem; if the dataset does not have the id, koderz finds the problem by its prompt",
    "passed": "whether the program passed: true or false, 1 or 0, yes or no, pass or fail, correct or incorrect",
    "completion": "a program that continues the prompt",
    "solution": "a complete program",
    "answer": "a model's complete reply",
    "input_tokens": "the number of prompt tokens",
    "output_tokens": "the number of answer tokens",
    "cost_usd": "the cost in US dollars",
    "seconds": "the duration of the call to the model, in seconds",
}
"""The fields that a column can hold, with their meaning."""


def parse_mapping(text: str) -> Columns:
    """``model=name,passed=metrics.acc``: the columns of these fields. Raises UsageError."""
    found = input_tables.parse_mapping(text, FIELDS)
    if "problem" not in found.of or not found.fields & {"passed", "completion", "solution", "answer"}:
        raise UsageError(
            "--map must name the field `problem` and at least one of `passed`, `completion`, `solution` and `answer`."
        )
    programs = found.fields & set(KINDS)
    return replace(found, blank=programs if len(programs) == 1 else ())  # of several columns, each program uses one


def parse_prices(texts: Iterable[str]) -> dict[str, tuple[float, float]]:
    """``gpt-4o=2.5,10``: US dollars per million input and output tokens, by model. Raises UsageError."""
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        model, _, amounts = text.rpartition("=")
        try:
            usd = [float(amount) for amount in amounts.split(",")]
        except ValueError:
            usd = []
        if not model or len(usd) != 2 or not all(0 <= amount < 1e6 for amount in usd):
            raise UsageError(
                f"--price {text} is not valid. Write MODEL=IN,OUT with both prices in USD per million tokens: input, "
                "then output."
            )
        if model in found:
            raise UsageError(f"--price names the model {model} twice.")
        found[model] = usd[0], usd[1]
    return found
