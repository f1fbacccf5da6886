"""What may be asked of one provider at most, as a person states it in the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """The limits of one provider. None: only the provider itself says when it is too much.

    Tokens count with what a call may take at most as long as it is under way, and with what it took afterwards.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    concurrency: int = Field(default=64, ge=1, le=10_000, description="calls at the same time")
    requests_per_minute: float | None = Field(default=None, gt=0, description="calls in any minute")
    tokens_per_minute: float | None = Field(default=None, gt=0, description="tokens in any minute, both ways")
