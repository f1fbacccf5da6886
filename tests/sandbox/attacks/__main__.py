"""Tries attacks and prints a table, one line of JSON per attack: ``python -m attacks [--tier strong]``.

Without a tier the twins are tried. So another user can be asked to try them, in a process of its own: all that reach
beyond the program's own interpreter, inside which it makes no difference whose it is, and that the tier is to stop.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice

from .cheating import CHEATS, reaches_out, serves, survives, twin_succeeds
from .exercises import DOUBLE
from .hosting import HOST_ATTACKS, gets, twin_gets
from .judges import missing, open_judge, promises, unmet
from .records import TIERS, Tier


def main() -> int:
    parser = argparse.ArgumentParser(prog="attacks", description=__doc__)
    parser.add_argument("--tier", choices=TIERS)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try only every Nth attack")
    chosen = parser.parse_args()
    if chosen.tier and missing(chosen.tier):
        print(json.dumps({"skipped": missing(chosen.tier)}))  # noqa: T201 (the table)
        return 0
    rows = list(judged(chosen.tier, chosen.every) if chosen.tier else twins(chosen.every))
    return 0 if all(row["as_promised"] for row in rows) else 1


def twins(every: int) -> Iterator[dict[str, object]]:
    for cheat in islice(filter(reaches_out, CHEATS), 0, None, every):
        if not unmet(cheat.needs):
            yield _row(cheat.name, twin_succeeds(cheat), "")
    for attack in HOST_ATTACKS[::every]:
        if not unmet(attack.needs):
            got = twin_gets(attack)
            yield _row(attack.name, bool(got), ", ".join(got))


def judged(tier: Tier, every: int) -> Iterator[dict[str, object]]:
    judge = open_judge(tier)
    for cheat in islice(filter(reaches_out, CHEATS), 0, None, every):
        if promises(tier, cheat.holds_from):
            yield _row(cheat.name, survives(cheat, judge), "")
    for attack in HOST_ATTACKS[::every]:
        if promises(tier, attack.holds_from):
            got = gets(attack, judge)
            yield _row(attack.name, not got and serves(judge, DOUBLE), ", ".join(got))
    judge.close()


def _row(name: str, as_promised: bool, got: str) -> dict[str, object]:
    row: dict[str, object] = {"attack": name, "as_promised": as_promised, "got": got}
    print(json.dumps(row), flush=True)  # noqa: T201 (the table)
    return row


if __name__ == "__main__":
    sys.exit(main())
