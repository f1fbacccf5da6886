"""What is done once when a benchmark has ended, whichever thread comes to it first."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Once:
    """Does one thing at the first call; a later call returns when that is done."""

    def __init__(self, what: Callable[[], None]) -> None:
        self._what = what
        self._begun = False
        self._guard = threading.Lock()  # guards _begun, and is held until the thing is done

    def __call__(self) -> None:
        with self._guard:
            if not self._begun:
                self._begun = True
                self._what()
