"""The process that computes CodeBLEU. It reads programs as JSON from stdin and writes rows of scores to stdout."""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Score each program with every other one as the reference."""
    from codebleu import calc_codebleu  # noqa: PLC0415 (an extra)

    order = json.load(sys.stdin)
    programs, weights = order["programs"], tuple(order["weights"])

    def score(program: str, reference: str) -> float:
        same = program is reference
        return 1.0 if same else float(calc_codebleu([reference], [program], "python", weights)["codebleu"])

    json.dump([[score(program, reference) for reference in programs] for program in programs], sys.stdout)


if __name__ == "__main__":
    main()
