"""What may be asked of one provider at most, as a person states it in the settings."""

from __future__ import annotations

from typing import Annotated

import msgspec

Whole = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
PerMinute = Annotated[float, msgspec.Meta(gt=0)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of one provider. None: only the provider itself says when it is too much.

    ``concurrency``: calls at the same time; the others: calls, and tokens both ways, in any minute. Tokens count with
    what a call may take at most as long as it is under way, and with what it took afterwards.
    """

    concurrency: Whole = 64
    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None
