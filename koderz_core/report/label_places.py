"""Places for the labels of a chart, in pixels: none overlaps another label, a point, a leader line or the border."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import cos, hypot, pi, sin

LINE = 18.0  # pixels of the height of a text of 13 px
NARROW = frozenset(" .,:;|!'()[]/-ijltfr")
WIDE = frozenset("mwMW@%")
POINT = 7.0  # half of the width of a mark
DISTANCES = (11.0, 18.0, 28.0, 42.0, 60.0, 82.0, 110.0, 145.0)  # from the point to the label
NEAR = 20.0  # a label that is further away has a leader line
DIRECTIONS = (0, 8, 2, 6, 14, 10, 4, 12, 1, 7, 15, 9, 3, 5, 13, 11)  # of 16, counterclockwise from the right
CROSSING = 16.0  # pixels further away are better than crossing an error bar or another line


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line from one pixel to another."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle; ``top`` is less than ``bottom``, as on a screen."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def inside(self, other: Box) -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )

    def meets(self, line: Line) -> bool:
        """Whether a part of the line is inside (Liang and Barsky, ACM Transactions on Graphics 3 (1984) 1-22)."""
        near, far = 0.0, 1.0
        for at, step, low, high in (
            (line.x0, line.x1 - line.x0, self.left, self.right),
            (line.y0, line.y1 - line.y0, self.top, self.bottom),
        ):
            if step == 0:
                if not low <= at <= high:
                    return False
                continue
            first, last = sorted(((low - at) / step, (high - at) / step))
            near, far = max(near, first), min(far, last)
        return near <= far


@dataclass(frozen=True, slots=True)
class Label:
    """The texts for the point at ``x``, ``y``, the longest first; ``important``: it is placed before the others."""

    x: float
    y: float
    texts: tuple[str, ...]
    important: bool = False

    @property
    def point(self) -> Box:
        return around(self.x, self.y)


@dataclass(frozen=True, slots=True)
class Placed:
    """A text in its box. ``leader``: the line from the point to a label that is far away, else None."""

    text: str
    box: Box
    leader: Line | None


def around(x: float, y: float, reach: float = POINT) -> Box:
    """The square around a pixel."""
    return Box(x - reach, y - reach, x + reach, y + reach)


def text_width(text: str) -> float:
    """An upper estimate of the width of a text of 13 px in pixels, that holds for wide fonts such as DejaVu Sans."""
    return sum(map(_character_width, text))


def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 15.0
    if character in WIDE:
        return 12.7
    return 5.2 if character in NARROW else 9.4 if character.isupper() else 8.0


def place(
    labels: Sequence[Label], frame: Box, taken: Sequence[Box] = (), lines: Sequence[Line] = ()
) -> list[Placed | None]:
    """The label of each point inside ``frame``; None if not even the shortest text has room.

    Important labels come first, then the shortest text of each other label, then longer texts where there is room.
    ``taken`` boxes are kept free; ``lines`` are crossed only if the label would otherwise be far away.
    """
    board = _Board(frame, [*taken, *(label.point for label in labels)], lines)
    placed: list[Placed | None] = [None] * len(labels)
    order = sorted(range(len(labels)), key=lambda at: not labels[at].important)
    for at in order:
        texts = labels[at].texts if labels[at].important else labels[at].texts[-1:]
        placed[at] = next((found for text in texts if (found := board.best(labels[at], text))), None)
        board.labels[at] = placed[at]
    for at in order:
        if not labels[at].important and len(labels[at].texts) > 1:
            board.labels[at] = None
            longer = (board.best(labels[at], text) for text in labels[at].texts[:-1])
            board.labels[at] = placed[at] = next(filter(None, longer), placed[at])
    return placed


@dataclass(slots=True)
class _Board:
    """The occupied parts of the frame."""

    frame: Box
    taken: Sequence[Box]
    lines: Sequence[Line]
    labels: dict[int, Placed | None] = field(default_factory=dict)

    def best(self, label: Label, text: str) -> Placed | None:
        """The free place with the least distance, counting crossed lines as distance; None if there is none."""
        best, least = None, float("inf")
        for distance, found in _candidates(label, text):
            if distance >= least:
                break
            if self._is_free(label, found):
                score = distance + CROSSING * sum(map(found.box.meets, self.lines))
                best, least = (found, score) if score < least else (best, least)
        return best

    def _is_free(self, label: Label, found: Placed) -> bool:
        others = [other for other in self.labels.values() if other]
        boxes = [*self.taken, *(other.box for other in others)]
        if not found.box.inside(self.frame) or any(map(found.box.overlaps, boxes)):
            return False
        if any(other.leader and found.box.meets(other.leader) for other in others):
            return False
        leader = found.leader
        own = label.point
        return leader is None or not any(box.meets(leader) for box in boxes if not box.overlaps(own))


def _candidates(label: Label, text: str) -> Iterator[tuple[float, Placed]]:
    """The places around a point with their distances, the nearest first."""
    width, height = text_width(text), LINE
    for distance in DISTANCES:
        for direction in DIRECTIONS:
            right, up = cos(direction * pi / 8), sin(direction * pi / 8)
            x, y = label.x + right * distance, label.y - up * distance
            left = x - width / 2 if abs(right) < 0.1 else x if right > 0 else x - width
            top = y - height / 2 if abs(up) < 0.1 else y - height if up > 0 else y
            box = Box(left, top, left + width, top + height)
            yield distance, Placed(text, box, _leader(label, box) if distance > NEAR else None)


def _leader(label: Label, box: Box) -> Line:
    """From the edge of the mark to the nearest pixel of the box, but not quite to its text."""
    x, y = min(max(label.x, box.left), box.right), min(max(label.y, box.top), box.bottom)
    part = POINT / (hypot(x - label.x, y - label.y) or 1.0)
    return Line(label.x + part * (x - label.x), label.y + part * (y - label.y), x, y)
