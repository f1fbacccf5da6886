"""The page Network: every address of a period with its purpose, and what was refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core.config import load_settings
from koderz_core.errors import OfflineError
from koderz_core.report.network import size

Visit = Callable[..., AppTest]


def test_addresses_are_listed_by_place_with_purpose_setting_and_bytes(visit: Visit) -> None:
    settings = load_settings(offline=False)
    settings.check_egress("https://api.openai.com/v1", "a call to openai/gpt-4o")
    settings.check_egress("http://127.0.0.1:11434", "a call to ollama/<b>x")
    with suppress(OfflineError):
        settings.changed(offline=True).check_egress("https://api.anthropic.com", "a call to anthropic/m")
    app = visit("network")
    assert not app.exception
    assert "made 1 call to 1 host beyond this machine: sent 0 B, received 0 B. koderz refused 1 call, because" in said(
        app
    )
    away, refused, here = (table.value.iloc[0] for table in app.dataframe)
    assert (away["address"], away["setting"]) == ("api.openai.com:443", "OPENAI_BASE_URL (default)")
    assert (refused["address"], refused["connections"]) == ("api.anthropic.com:443", "0")
    assert here["purpose"] == "a call to ollama/<b>x"


def test_without_traffic_the_page_says_that_nothing_left(visit: Visit) -> None:
    app = visit("network")
    assert "In the last 24 hours, koderz opened no connection beyond this machine." in said(app)
    assert not app.dataframe


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "unknown"), (0, "0 B"), (999, "999 B"), (1_540, "1.5 kB"), (9_960, "10 kB"), (2.5e9, "2.5 GB")],
)
def test_sizes_have_units_and_unknown_is_not_zero(number: float | None, text: str) -> None:
    assert size(number) == text
