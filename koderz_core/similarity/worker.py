"""The process that computes CodeBLEU: programs in as JSON on stdin, rows of scores out on stdout."""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Each program with each other one as the reference, by these weights."""
    from codebleu import calc_codebleu  # noqa: PLC0415 (an extra)

    asked = json.load(sys.stdin)
    programs, weights = asked["programs"], tuple(asked["weights"])

    def score(program: str, reference: str) -> float:
        same = program is reference
        return 1.0 if same else float(calc_codebleu([reference], [program], "python", weights)["codebleu"])

    json.dump([[score(program, reference) for reference in programs] for program in programs], sys.stdout)


if __name__ == "__main__":
    main()
