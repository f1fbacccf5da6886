"""The calls of this process to each address of model servers, as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.report.formats import duration, plain
from koderz_core.runner.provider_limits import AddressState

NOTE = (
    "The table shows the calls of this koderz process since its start. Among the addresses of a provider, koderz "
    "sends the next call to the address with the lowest load: (calls under way + 1) / (tokens per second of a call). "
    "The load of an address that had no calls for some time counts as 0, so that koderz soon measures its speed again. "
    "koderz sends no calls to an address whose circuit breaker is open."
)


def address_rows(states: Sequence[AddressState]) -> list[dict[str, str | int]]:
    """One row per address; a model that runs without a server has its own name as address."""
    return [
        {
            "address": plain(state.address),
            "under way": state.under_way,
            "answered": state.answered,
            "failed": state.failed,
            "tokens/s per call": "unknown" if state.tokens_per_second is None else f"{state.tokens_per_second:.1f}",
            "circuit breaker": _breaker(state),
            "provider": state.provider,
        }
        for state in states
    ]


def address_alt(states: Sequence[AddressState]) -> str:
    """The table in words."""
    under_way, answered = sum(state.under_way for state in states), sum(state.answered for state in states)
    failed = sum(state.failed for state in states)
    return f"Calls to each address; in total {under_way} under way, {answered} answered, {failed} failed."


def _breaker(state: AddressState) -> str:
    if state.breaker == "half-open":
        return "half-open: one call tests the address"
    return f"{state.breaker}, next call in {duration(state.wait_seconds)}" if state.wait_seconds else state.breaker
