"""A small real benchmark that comes with koderz, to look at before anything has been run."""

from __future__ import annotations

import gzip
from pathlib import Path

from koderz_core.errors import DataError

EXAMPLE = "bench_4eae9e780046"
"""Its id. Qwen2.5-Coder 0.5B on 18 problems of HumanEval+: `direct`, and `repair` with two gates. See NOTICE."""

_BUNDLE = Path(__file__).parent / "example.jsonl.gz"


def example_journal() -> bytes:
    """The whole journal of it, as the runner wrote it but for its name and ids. Raises DataError."""
    try:
        return gzip.decompress(_BUNDLE.read_bytes())
    except (OSError, EOFError) as error:
        raise DataError(
            f"{_BUNDLE} is missing or damaged, so the example cannot be shown. Install koderz again."
        ) from error
