"""The plugin of pytest that reports every test: its phases with their durations, and the errors that ended them.

Records: ``["collected", ids]``, ``["start", id]``, ``["phase", id, phase, outcome, seconds]`` with an outcome of
"passed", "failed" or "skipped", ``["raised", id, error class, message, place]``, where the id is that of a test or of a
file that could not be collected, and ``["internal", message]``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from .faults import Fault, classify, describe

_MOST_CHARACTERS = 500  # of a message
_MOST_RAISED = 2000  # records of errors in one run: a broken module fails every test


class Reporter:
    """Its methods are hooks of pytest, which finds them by name; Any stands for pytest's own types."""

    def __init__(
        self, ids: Collection[str] | None, emit: Callable[[list[Any]], None], flush: Callable[[], None]
    ) -> None:
        """``ids``: the tests that run, None for all; ``flush``: writes what was emitted."""
        self._ids = None if ids is None else frozenset(ids)
        self._emit, self._flush = emit, flush
        self._raised, self._root = 0, f"{Path.cwd()}/"

    def pytest_configure(self, config: Any) -> None:
        config.option.tbstyle = "native"  # the cheapest; no traceback is shown

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._ids is not None:
            items[:] = [item for item in items if item.nodeid in self._ids]
        else:
            self._emit(["collected", [item.nodeid for item in items]])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._emit(["start", nodeid])
        self._flush()

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
        self._emit(["phase", report.nodeid, report.when, outcome, round(report.duration, 4)])

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        self._raised += 1
        if call.excinfo is not None and self._raised <= _MOST_RAISED:
            error = call.excinfo.value
            self._emit(["raised", node.nodeid, *fault_of(error), place_of(error, self._root, str(node.path))])

    def pytest_internalerror(self, excinfo: Any) -> None:
        self._emit(["internal", fault_of(excinfo.value).message])


def fault_of(error: BaseException) -> Fault:
    """The class and the text of an error in one line. The text of a hostile exception may raise anything."""
    try:
        cause = _cause(error)
        text = " ".join(describe(cause)[: 4 * _MOST_CHARACTERS].split())[:_MOST_CHARACTERS]
    except BaseException:  # noqa: BLE001 (it is the program's)
        return Fault("exception", type(error).__name__)
    failed = isinstance(cause, AssertionError) or type(cause).__name__ == "Failed"  # pytest.fail
    return Fault("assertion" if failed else classify(cause), text)


def place_of(error: BaseException, root: str, tests: str) -> str:
    """``path:line`` of the innermost line of the tree that raised an error; "" if it is in the file ``tests``."""
    place = ""
    try:
        step = error.__traceback__
        while step is not None:
            path = step.tb_frame.f_code.co_filename
            if path.startswith(root):
                place = f"{path[len(root) :]}:{step.tb_lineno}" if path != tests else ""
            step = step.tb_next
    except BaseException:  # noqa: BLE001 (as above)
        return ""
    return place


def _cause(error: BaseException) -> BaseException:
    """The error itself, or that behind an error of pytest: the reason why a file cannot be imported."""
    return error.__cause__ if type(error).__name__ == "CollectError" and error.__cause__ else error
