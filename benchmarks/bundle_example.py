"""Bundle the example that koderz includes from the journal of a finished benchmark.

Run: ``python benchmarks/bundle_example.py JOURNAL koderz_core/examples/example.jsonl.gz``. The benchmark gets the name
below, so that every page shows what it is and nobody takes it for a benchmark of the user's; its id and those of its
experiments follow from the name. All else stays as recorded, including the seeds that were sent.
"""

from __future__ import annotations

import argparse
import gzip
import json
from dataclasses import replace
from pathlib import Path

from koderz_core.runner.header import recorded_plan

NAME = "example: Qwen2.5-Coder 0.5B, 18 HumanEval+ problems"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("journal", type=Path)
    parser.add_argument("bundle", type=Path)
    options = parser.parse_args()
    before = recorded_plan(options.journal)
    after = replace(before, name=NAME)
    ids = {before.id: after.id}
    ids |= {old.id: new.id for old, new in zip(before.experiments(), after.experiments(), strict=True)}
    text = options.journal.read_text()
    text = text.replace(f'"name":{json.dumps(before.name)},"conditions"', f'"name":{json.dumps(NAME)},"conditions"')
    for old, new in ids.items():
        text = text.replace(old, new)
    options.bundle.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{options.bundle}: {after.id}, {options.bundle.stat().st_size} bytes")


if __name__ == "__main__":
    main()
