"""The script that the host runs in a bare interpreter. It loads the modules next to it and calls ``serving``."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.path.insert(0, __file__.rsplit("/", 2)[0])
    serving = import_module("inside.serving")
    sys.path.pop(0)  # programs and tests must not import these modules
    serving.main()
