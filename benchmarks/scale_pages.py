"""For ``benchmarks/scale.py``: ``scale_pages.py HOME`` prints the times of the pages of the only benchmark as JSON.

They are measured as in ``benchmarks/dashboard.py``, whose yardstick, a page with only a title, comes first.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from pathlib import Path

from dashboard import BENCHMARKS, EMPTY, opened, page_times, visit
from streamlit.testing.v1 import AppTest

from koderz_core import the_workspace

PAGES = (("Home", "overview"), ("Live", "live"), ("Experiments", "experiment"), ("Summary", "compare"))


def main(home: str) -> None:
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # there is no browser, as it would say each time
    visit(AppTest.from_string(EMPTY))  # what a server imports once
    title = AppTest.from_string(EMPTY)
    times = {
        "yardstick: page with only a title": {
            "opened": visit(title).wall,
            "background": 0.0,
            "redrawn": visit(title).wall,
        }
    }
    with opened(Path(home)):
        (row,) = the_workspace().results.benchmarks()
        for name, page in (*PAGES, ("Problems", "problems")):
            found = page_times(page, {} if page == "overview" else {BENCHMARKS: row.id})
            if found.fault:
                raise SystemExit(f"{name}: {found.fault}")
            later = found.later[0].wall if found.read_on else found.redrawn.wall
            times[name] = {"opened": found.opened.wall, "background": found.seconds, "redrawn": later}
            print(f"{name}: {times[name]}", file=sys.stderr, flush=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"pages": times, "megabytes": most}))


if __name__ == "__main__":
    main(*sys.argv[1:])
