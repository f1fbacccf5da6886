"""How often an interval covers the truth if its pair was selected from several because it looked best.

Run: ``python benchmarks/picking.py`` (about 5 seconds). Eleven configurations and their baseline are all equally good
on 164 problems, some harder than others; the one that solved most is selected. The true difference is 0.
"""

from __future__ import annotations

import numpy as np

from koderz_core.analysis.paired import bonett_price

PAIRS, PROBLEMS, TIMES = 11, 164, 1000


def main() -> None:
    random = np.random.default_rng(0)
    held = {1: 0, PAIRS: 0}
    for _ in range(TIMES):
        chance = random.beta(0.7, 1.0, PROBLEMS)
        solved = random.random((PAIRS + 1, PROBLEMS)) < chance
        differences = solved[1:].astype(float) - solved[0]
        picked = differences[differences.sum(axis=1).argmax()].tolist()
        for at_once in held:
            low, high = bonett_price(picked, at_once)
            held[at_once] += low <= 0 <= high
    print(f"{TIMES} times the best of {PAIRS} equals on {PROBLEMS} problems:")
    print(f"its plain interval holds the truth {held[1] / TIMES:.1%} of the time,")
    print(f"the one for all {PAIRS} at once {held[PAIRS] / TIMES:.1%}")


if __name__ == "__main__":
    main()
