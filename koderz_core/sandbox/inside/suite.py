"""Tests made ready once and executed many times: in the judge's process, or beside the program where they must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from .expecting import marked
from .faults import TestsBrokenError, describe
from .instrument import SITE, instrument
from .recorder import Recorder

_KEPT = 256  # a benchmark meets the same tests again and again
_LONG = 20_000  # characters: of longer tests only a few are kept


class Suite(NamedTuple):
    """Tests as code, and the source of each assert in them that counts."""

    code: CodeType
    sources: tuple[str, ...]


def ready(tests: str, *, expecting: bool = False) -> Suite:
    """Raise TestsBrokenError if they are not Python. ``expecting``: marked for a function of that name to be given."""
    return _kept(tests, expecting) if len(tests) < _LONG else _kept_briefly(tests, expecting)


def _made(tests: str, expecting: bool) -> Suite:
    try:
        instrumented = instrument(tests)
        tree = marked(instrumented.tree, tests) if expecting else instrumented.tree
        code = compile(tree, "<tests>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise TestsBrokenError(describe(error)) from None
    return Suite(code, instrumented.sources)


_kept, _kept_briefly = lru_cache(_KEPT)(_made), lru_cache(4)(_made)


def execute(
    suite: Suite, preamble: str, given: Mapping[str, object], function: Callable[..., object], recorder: Recorder
) -> None:
    """Run ``check(function)``. Tests see the problem's helper functions, and of the program only what is ``given``.

    Raise what ended the tests; TestsBrokenError if the program had not been asked anything by then.
    """
    namespace: dict[str, Any] = {"__name__": "tests"}  # Any: a module's names
    try:
        exec(_compiled(preamble), namespace)  # noqa: S102 (the point)
        namespace |= {**given, SITE: recorder.site}
        exec(suite.code, namespace)  # noqa: S102 (the point)
        namespace["check"](function)
    except (Exception, SystemExit) as error:
        if not recorder.called():
            raise TestsBrokenError(describe(error)) from error
        raise


@lru_cache(_KEPT)
def _compiled(preamble: str) -> CodeType:
    return compile(preamble, "<preamble>", "exec", dont_inherit=True)
