"""Two experiments side by side: which step of the one belongs to which of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.records.rows import Step


@dataclass(frozen=True, slots=True)
class Beside:
    """A step of the one and the step of the other that is like it; None: the other has none."""

    left: Step | None
    right: Step | None


def aligned(left: Sequence[Step], right: Sequence[Step]) -> tuple[Beside, ...]:
    """Both in their order. Tries stand beside tries of the same number; what came before each beside its like."""
    one, other = _before_tries(left), _before_tries(right)
    length = max(len(one), len(other))
    parts = ((*each, *[()] * (length - len(each))) for each in (one, other))
    return tuple(pair for of_left, of_right in zip(*parts, strict=True) for pair in _paired(of_left, of_right))


def _before_tries(steps: Sequence[Step]) -> list[tuple[Step, ...]]:
    """The steps up to each try, that one included; in the end those that no try followed."""
    parts: list[tuple[Step, ...]] = []
    part: list[Step] = []
    for step in steps:
        part.append(step)
        if _is_try(step):
            parts.append(tuple(part))
            part = []
    return [*parts, tuple(part)] if part else parts


def _paired(left: Sequence[Step], right: Sequence[Step]) -> Iterator[Beside]:
    """The first of a kind beside the first of that kind; the tries, which come last, beside each other."""
    left, right = list(left), list(right)
    while left or right:
        if left and right and _kind(left[0]) == _kind(right[0]):
            yield Beside(left.pop(0), right.pop(0))
        elif left and not (_is_try(left[0]) and right):
            yield Beside(left.pop(0), None)
        else:
            yield Beside(None, right.pop(0))


def _is_try(step: Step) -> bool:
    """An answer that is handed in untested is a try as well."""
    return step.kind in ("iteration", "answer")


def _kind(step: Step) -> str:
    return "try" if _is_try(step) else step.kind
