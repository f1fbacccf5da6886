"""The time that the response cache adds to a call, in milliseconds: the key, a miss, keeping an answer, and a hit.

Run: ``python benchmarks/answer_cache.py``. The prompt has about 1,000 tokens and the answer about 500, as in HumanEval
with feedback. The last line is the share of a call of 300 ms, which is fast for a model. Disks differ: ``--folder``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from koderz_core.config import load_settings
from koderz_core.models.answer_cache import FILE, AnswerCache, Kept, Served
from koderz_core.records import Completion, Cost, Message, Request, Sampling, Usage

CALL_MS = 300.0
WORDS = 700  # a token is about 0.75 words


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        cache, served = AnswerCache(Path(folder) / FILE, 1e9), Served(load_settings())
        draws = random.Random(1)
        request = Request((Message("user", _text(draws, WORDS)),), Sampling(0.8, None, 1024), seed=7)
        numbers = range(options.answers)
        kept = Kept(Completion(_text(draws, WORDS // 2), "stop", Usage(), 1.0, Sampling()), Cost(0.0, ""), "exp", 0.0)
        times = {
            "key": _times(numbers, lambda at: served.key("openai/gpt-4o-mini", request, (at,))),
            "keep": _times(numbers, lambda at: cache.keep(str(at), kept)),
            "miss": _times(numbers, lambda at: cache.find(f"no {at}")),
            "hit": _times(numbers, lambda at: cache.find(str(at))),
        }
        size = cache.contents().size / options.answers
    for name, milliseconds in times.items():
        print(f"{name:5} {milliseconds:7.3f} ms")
    added = times["key"] + times["miss"] + times["keep"]
    print(f"bytes per answer: {size:.0f}; a call that misses: +{added:.2f} ms, {added / CALL_MS:.2%} of {CALL_MS:g} ms")


def _times(numbers: range, act: Callable[[int], object]) -> float:
    """The median time of an act in milliseconds."""
    taken = []
    for number in numbers:
        started = time.perf_counter()
        act(number)
        taken.append(1000 * (time.perf_counter() - started))
    return statistics.median(taken)


def _text(draws: random.Random, words: int) -> str:
    return " ".join("".join(draws.choices("abcdefghij", k=5)) for _ in range(words))


if __name__ == "__main__":
    main()
