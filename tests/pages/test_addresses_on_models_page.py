"""The page Models shows what to do about each model, and the calls of this process to each address."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from chat_server import sends, serving_chat, streams
from streamlit.testing.v1 import AppTest

from koderz_core import the_workspace
from koderz_core.errors import ModelError
from koderz_core.report.addresses import address_rows
from koderz_core.runner.provider_limits import AddressState

Visit = Callable[..., AppTest]


def test_what_to_do_about_a_model_or_a_key_is_visible_in_a_window_of_1280_pixels(visit: Visit) -> None:
    app = visit("models")
    for table in (app.dataframe[0].proto, app.dataframe[1].proto):
        columns, shown = json.loads(table.columns), list(table.column_order)
        before = shown[: shown.index("what to do") + 1]
        assert sum(columns[name]["width"] for name in before) <= 877  # without the sidebar and the margins


def test_each_address_is_a_row_with_its_calls_and_failures(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_chat() as good, serving_chat() as bad:
        good.answer, bad.answer = streams({"content": "hello"}), sends(503, {})
        monkeypatch.setenv("VLLM_BASE_URL", f"{good.url},{bad.url}")
        for _ in range(4):
            try:
                the_workspace().models.ask("vllm/it", "hi")
            except ModelError:
                continue
        app = visit("models")
    (table,) = [frame.value for frame in app.dataframe if "under way" in frame.value]
    rows = table.set_index("address")
    assert list(rows["provider"]) == ["vllm", "vllm"]
    assert rows.loc[good.url, ["under way", "failed"]].tolist() == [0, 0]
    assert rows.loc[bad.url, ["under way", "answered", "tokens/s per call"]].tolist() == [0, 0, "unknown"]
    assert rows["answered"].sum() + rows["failed"].sum() == 4
    assert min(rows.loc[good.url, "answered"], rows.loc[bad.url, "failed"]) > 0


def test_the_circuit_breaker_is_shown_in_words() -> None:
    shown = [
        AddressState("vllm", "http://box/v1", 2, 3, 4, 12.34, "open", 12.0),
        AddressState("vllm", "http://box/v1", 0, 0, 0, None, "half-open", 0.0),
        AddressState("vllm", "http://box/v1", 0, 0, 0, None, "closed", 0.0),
    ]
    assert [row["circuit breaker"] for row in address_rows(shown)] == [
        "open, next call in 12.0 s",
        "half-open: one call tests the address",
        "closed",
    ]
    assert address_rows(shown)[0]["tokens/s per call"] == "12.3"
