"""Letting go of models for good, whatever they are busy with."""

from __future__ import annotations

import threading
import time

from koderz_core.config import Settings
from koderz_core.models.open_models import OpenModels


def test_a_model_that_hangs_does_not_keep_a_process_from_ending(settings: Settings) -> None:
    opened = OpenModels(settings, lambda _: {})
    hanging, closed = opened.get("scripted/weak", "a"), opened.get("scripted/weak", "b")
    forever, told = threading.Event(), threading.Event()
    hanging.close = forever.wait  # type: ignore[method-assign, assignment]  # as a call in flight can make it
    closed.close = told.set  # type: ignore[method-assign]
    begin = time.monotonic()
    opened.abandon(0.2)
    assert time.monotonic() - begin < 2
    assert told.is_set()
    forever.set()
