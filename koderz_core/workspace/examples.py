"""Opening the example: its journal is put beside the user's own, and is one of them from then on."""

from __future__ import annotations

from koderz_core.config import Settings
from koderz_core.datasets.keeping import keep_file
from koderz_core.examples import EXAMPLE, example_journal

ABOUT_EXAMPLE = (
    "A real benchmark, recorded on a machine with 2 cores: Qwen2.5-Coder 0.5B on 18 problems of HumanEval+, "
    "asked once, and asked again with the failures of its tests."
)


def open_example(settings: Settings) -> str:
    """Put the example's journal into the data folder, unless it is there; the benchmark's id. Raises DataError."""
    journal = settings.journals_dir / f"{EXAMPLE}.jsonl"
    if not journal.exists():  # whatever it has become since, nothing of it is overwritten
        keep_file(journal, example_journal())
    return EXAMPLE


def how_to_remove(benchmark: str) -> str | None:
    """What to say below the example, None below any other benchmark."""
    if benchmark != EXAMPLE:
        return None
    return (
        "The example counts like any benchmark of yours, also in totals and forecasts. To remove it, in a terminal: "
        f"koderz delete {EXAMPLE} --yes"
    )
