"""Keys are taken out of every text, whole or in pieces, and ordinary programs stay as they are."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koderz_core
from koderz_core.addresses import secrets_of
from koderz_core.redaction import MASK, MOST_HELD, Redaction

KNOWN = ("sk-known-0123456789", 'pass"word\\1/+', "sk-known-0123456789-and-more", "789-overlaps")
ISSUED = (
    "sk-proj-" + "AbCd" * 10,
    "sk-ant-api03-" + "Ab_d" * 20,
    "sk-0123456789abcdefghij0123",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1B2c3" * 6,
    "github_pat_" + "a1B2c3_" * 6,
    "xoxb-0123456789-abcdefghij",
    "AIza" + "Sy0-_" * 7,
    "hf_" + "aBcDeFgH" * 4,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "Bearer 0123456789abcdefghijklmn",
    "bEARER 0123456789abcdefghijklmn",
    'bearer": "0123456789abcdefghijklmn',
    "gsk_" + "aB3dE" * 10,
    "xai-" + "aB3dE" * 16,
    "nvapi-" + "aB3_-" * 13,
    "pplx-" + "aB3dE" * 10,
    "r8_" + "aB3dE" * 7 + "xy",
    "npm_" + "aB3dE6" * 6,
    "pypi-AgEIcHlwaS5vcmc" + "aB3_-" * 20,
    "hooks.slack.com/services/T0123ABCD/B0123ABCD/abcdefghijkl0123456789",
    "-----BEGIN PRIVATE KEY-----\n" + "aB3/+" * 12 + "\naB3=\n-----END PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\\n" + "aB3/+" * 12 + "\\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\n" + ("aB3/+" * 12 + "\n") * 3 + "aB3/+" * 12,
)
KEPT = {  # what stands before a key and is no part of it
    "Authorization: ": "Basic dXNlcjpwYXNz",
    'authorization": "': "basic dXNlcjpwYXNzd29yZA==",
    "postgres://": "me:pa5s",
    "aws_": "AKIAIOSFODNN7EXAMPLE",
    "_": "ghp_" + "a1B2c3" * 6,
    "https://": "hooks.slack.com/services/T0123ABCD/B0123ABCD/abcdefghijkl0123456789",
}
REDACTION = Redaction(KNOWN)


def streamed(text: str, cuts: list[int], redaction: Redaction = REDACTION) -> list[str]:
    stream, ends = redaction.stream(), [*sorted(cuts), len(text)]
    starts = [0, *ends[:-1]]
    return [*(stream.take(text[start:end]) for start, end in zip(starts, ends, strict=True)), stream.rest()]


@pytest.mark.parametrize("key", [*KNOWN[:3], *ISSUED])
def test_a_key_is_masked_and_what_stands_around_it_stays(key: str) -> None:
    assert REDACTION.text(f"KEY = '{key}', said it.\n") == f"KEY = '{MASK}', said it.\n"


@pytest.mark.parametrize("before", KEPT)
def test_a_key_is_masked_behind_what_is_no_part_of_it_and_wherever_it_is_split(before: str) -> None:
    text = f"x = {before}{KEPT[before]}@host\n"
    assert REDACTION.text(text) == f"x = {before}{MASK}@host\n"
    for cut in range(len(text) + 1):
        assert "".join(streamed(text, [cut])) == f"x = {before}{MASK}@host\n"
    assert "".join(streamed(text, list(range(len(text))))) == f"x = {before}{MASK}@host\n"


@pytest.mark.parametrize("key", KNOWN)
@pytest.mark.parametrize("before", ["", "u:", "me:"])
def test_a_key_that_is_set_is_found_in_base64_and_as_addresses_and_json_write_it(key: str, before: str) -> None:
    for encode in (b64encode, urlsafe_b64encode):
        said = encode(f"{before}{key}, and more".encode()).decode()
        assert MASK in REDACTION.text(said)
    assert REDACTION.text(quote(key, safe="")) == REDACTION.text(json.dumps(key)[1:-1]) == MASK


@pytest.mark.parametrize("key", [*KNOWN, *ISSUED])
def test_a_streamed_key_is_never_seen_wherever_it_is_split(key: str) -> None:
    text = f"x = '{key}'\n"
    for cut in range(len(text) + 1):
        assert "".join(streamed(text, [cut])) == f"x = '{MASK}'\n"
    assert "".join(streamed(text, list(range(len(text))))) == f"x = '{MASK}'\n"


PARTS = st.sampled_from(
    (
        *KNOWN[:3],
        *ISSUED,
        "s",
        "sk-",
        "_",
        "-",
        "ta",
        "word ",
        "eyJ",
        " ",
        ".",
        "Bearer ",
        "AKIA",
        *KEPT,
        *KEPT.values(),
        "@",
        "-----",
    )
)


@given(st.lists(PARTS, max_size=12).map("".join), st.data())
def test_what_was_streamed_is_what_is_stored(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    shown = "".join(streamed(text, cuts))
    assert shown == REDACTION.text(text)
    assert not any(key in shown for key in KNOWN[:3])


def test_ordinary_text_is_shown_as_soon_as_it_comes() -> None:
    pieces = ["def add", "(a, b):", "\n    task", "-2 = kiosk", "-1", "\n    return", " a + c"]
    stream = Redaction(["0123-4567-secret"]).stream()
    assert [stream.take(piece) for piece in pieces] == pieces
    assert [stream.take("see s"), stream.take("k"), stream.take("y")] == ["see ", "", "sky"]


def test_a_word_without_end_is_not_held_back_for_ever() -> None:
    stream = Redaction().stream()
    shown = [stream.take("sk-" + "a" * 1000) for _ in range(20)]
    assert not any(shown[: MOST_HELD // 1003])
    assert any(shown)


def test_programs_and_prose_stay_as_they_are() -> None:
    for path in (Path(koderz_core.__file__).parent).rglob("*.py"):
        text = path.read_text()
        assert REDACTION.text(text) == text, path
    for text in (
        "basic operations of bearer authentication",
        "sk-learn",
        "risk-free",
        "hf_something_quite_long_indeed",
        "npm_config_registry_of_some_long_name",
        "Authorization: Basic realm or Basic authentication",
        "Authorization: basic x",
        "f'postgres://{user}:{password}@{host}/db'",
        "http://localhost:8000/a@b and mailto:me@host",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "the bearer of 0123456789",
    ):
        assert REDACTION.text(text) == text


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("http://127.0.0.1:1/v1", ()),
        ("https://me:pa%21ss@host/v1", ("me:pa%21ss", "me:pa!ss", "pa%21ss", "pa!ss")),
        ("https://abcdefgh@host/v1", ("abcdefgh",)),
        ("https://host/v1?key=abc&api-version=2024-02-15-preview", ("abc",)),
        ("https://host/gpt-4o-mini-2024-07-18/0123456789abcdef/v1", ("0123456789abcdef",)),
    ],
)
def test_what_is_secret_in_an_address(url: str, secrets: tuple[str, ...]) -> None:
    assert secrets_of(url) == secrets
