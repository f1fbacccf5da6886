"""What the host starts by its path, in a bare interpreter: finds the modules beside it and hands over to them."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.path.insert(0, __file__.rsplit("/", 2)[0])
    serving = import_module("inside.serving")
    sys.path.pop(0)  # programs and tests have no business there
    serving.main()
