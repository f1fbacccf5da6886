"""For ``benchmarks/many.py``: ``many_overview.py HOME`` draws Home once in its process and prints the seconds."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[1] / "app.py"
SECONDS = 600.0  # more than it takes


def main(home: str) -> None:
    os.environ["KODERZ_HOME"] = home
    logging.disable(logging.WARNING)  # there is no browser, as Streamlit would say
    began = time.monotonic()
    app = AppTest.from_file(str(APP), default_timeout=SECONDS).run()
    if app.exception or not app.dataframe:
        raise SystemExit("Home was not drawn.")
    print(json.dumps({"seconds": time.monotonic() - began}))


if __name__ == "__main__":
    main(*sys.argv[1:])
