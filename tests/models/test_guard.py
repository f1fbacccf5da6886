"""Between models and the rest of koderz: no key goes in, none comes out, and nothing else changes."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest

from koderz_core.config import load_settings
from koderz_core.errors import Cancelled, ModelError, PlanError
from koderz_core.models.catalogue import check_allowed
from koderz_core.models.open_models import GuardedModel
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Message, Request, Sampling, Usage
from koderz_core.redaction import Redaction

KEY = "planted-key-0123456789"
REQUEST = Request((Message("user", f"Keep {KEY}."),), Sampling(), seed=7)


class Telling:
    """Says these pieces, then raises ``error`` if there is one."""

    id = "scripted/it"

    def __init__(self, *pieces: str, error: Exception | None = None) -> None:
        self.pieces, self.error, self.asked = pieces, error, list[Request]()

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        self.asked.append(request)
        for piece in self.pieces if on_text else ():
            on_text(piece)  # type: ignore[misc]  # it is called only if it is there
        if self.error:
            raise self.error from ValueError(f"sent {KEY}")
        return Completion("".join(self.pieces), "stop", Usage(service_tier=KEY), 0.1, Sampling())

    def close(self) -> None: ...


def guarded(model: Telling, on_text: Callable[[str], None] | None = None) -> Completion:
    return GuardedModel(model, Redaction([KEY])).complete(REQUEST, on_text)


def test_a_key_is_not_sent_and_not_given_back() -> None:
    model = Telling(f"It is {KEY}.")
    completion = guarded(model)
    assert model.asked == [Request((Message("user", "Keep [secret]."),), Sampling(), seed=7)]
    assert (completion.text, completion.usage.service_tier) == ("It is [secret].", "[secret]")


def test_no_log_of_an_error_shows_a_key_and_the_error_stays_what_it_is() -> None:
    with pytest.raises(ModelError) as raised:
        guarded(Telling(error=ModelError(f"It answered {KEY}.", retryable=True, status=500)))
    assert (str(raised.value), raised.value.retryable, raised.value.status) == ("It answered [secret].", True, 500)
    assert KEY not in "".join(traceback.format_exception(raised.value))


def test_every_piece_is_heard_of_as_it_comes_so_that_a_call_can_be_ended_at_any() -> None:
    heard: list[str] = []
    guarded(Telling("It is planted", "-key-", "0123456789", ", plan"), heard.append)
    assert heard == ["It is ", "", "[secret]", ", ", "plan"]

    def stop(piece: str) -> None:
        raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        guarded(Telling("planted-"), stop)


def test_no_model_is_asked_for_by_a_name_that_holds_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(PlanError, match=r"vllm/\[secret\] is not allowed"):
        check_allowed([f"vllm/{KEY}"], load_settings())
