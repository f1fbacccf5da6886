"""What tells whose machine a text is from."""

from __future__ import annotations

import pytest

from koderz_core.bundles.privacy import Identities

WHOSE = Identities(("annika", "root"), ("deepbox",), ("/data/koderz",))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("open('/home/jo/x.py')", "open('[path]')"),
        ("No such file:/root/.cache/x", "No such file:[path]"),
        ("in /data/koderz/journals", "in [path]"),
        (r"C:\Users\jo\x.py", "[path]"),
        ("~/notes", "[path]"),
        ("http://gpu-7.lan:11434/api/tags", "http://[host]/api/tags"),
        ("at 192.168.0.7", "at [host]"),
        ("jo@corp.example wrote", "[user] wrote"),
        ("Annika@deepbox:", "[user]@[host]:"),
        ("annika_2 and xannika", "[user]_2 and xannika"),
    ],
)
def test_it_is_masked(text: str, masked: str) -> None:
    assert WHOSE.masked(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "HumanEval/2",
        "lmstudio/qwen/qwen3-8b",
        "a / b // c",
        "http://127.0.0.1:11434/v1",
        "https://api.openai.com/v1",
        "the root of the tree",
        "1.2.3",
    ],
)
def test_it_tells_nothing_of_anybody_and_stays(text: str) -> None:
    assert WHOSE.masked(text) == text
