"""Logs for other tools: writers of their formats, and what they write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from koderz_core.exports.recording import Recording
from koderz_core.lazy import load_module
from koderz_core.report.dump import DumpFile

Writer = Callable[[Iterable[Recording]], Iterator[DumpFile]]
"""Writes the files of a log. A writer whose format is one file yields its pieces."""

_MODULES: Mapping[str, str] = {
    "inspect": "inspect_log",
    "eee": "every_eval_ever",
    "atif": "atif",
    "otlp": "otlp",
}


def log_writer(form: str) -> Writer:
    """The writer of a format: ``inspect``, ``eee``, ``atif`` or ``otlp``.

    Raises UsageError if the writer needs a package that is missing.
    """
    return cast(Writer, load_module(f"{__name__}.{_MODULES[form]}").write)
