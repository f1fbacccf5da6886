"""Compiles tests once and executes them many times, in the judge's process or in the program's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from .faults import TestsBrokenError, describe
from .instrument import SITE, instrument, marked
from .recorder import Recorder

_KEPT = 256  # test sets, since a benchmark uses the same ones repeatedly
_LONG = 20_000  # characters; only a few longer test sets are kept


class Suite(NamedTuple):
    """Tests as code, and the source of each assert in them that counts."""

    code: CodeType
    sources: tuple[str, ...]


def ready(tests: str, *, expecting: bool = False) -> Suite:
    """The compiled tests. ``expecting``: with the marks of ``instrument.marked``. Raises TestsBrokenError."""
    return _kept(tests, expecting) if len(tests) < _LONG else _kept_briefly(tests, expecting)


def _compile(tests: str, expecting: bool) -> Suite:
    try:
        instrumented = instrument(tests)
        tree = marked(instrumented.tree, tests) if expecting else instrumented.tree
        code = compile(tree, "<tests>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise TestsBrokenError(describe(error)) from None
    return Suite(code, instrumented.sources)


_kept, _kept_briefly = lru_cache(_KEPT)(_compile), lru_cache(4)(_compile)


def execute(
    suite: Suite, preamble: str, names: Mapping[str, object], function: Callable[..., object], recorder: Recorder
) -> None:
    """Run ``check(function)``. Tests see the problem's preamble and these ``names`` of the program.

    Raises the exception that ended the tests, or TestsBrokenError if the program was not called before.
    """
    namespace: dict[str, Any] = {"__name__": "tests"}  # Any: a module's names
    try:
        exec(_compiled(preamble), namespace)  # noqa: S102 (the point)
        namespace |= {**names, SITE: recorder.site}
        exec(suite.code, namespace)  # noqa: S102 (the point)
        namespace["check"](function)
    except (Exception, SystemExit) as error:
        if not recorder.called():
            raise TestsBrokenError(describe(error)) from error
        raise


@lru_cache(_KEPT)
def _compiled(preamble: str) -> CodeType:
    return compile(preamble, "<preamble>", "exec", dont_inherit=True)
