"""What leaves this machine holds no secret, and still says what a person wants to know."""

from __future__ import annotations

import time

import pytest

from koderz_core.notices.mask import masked, masked_command, masked_output

BASE64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7/VJTUt9Us8cK"


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-MARKED0123456789",
        "it said: xoxb-MARKED-0123456789",
        "ghp_MARKED0123456789012345678901",
        "AKIAMARKED0123456789"[:20],
        "eyJMARKED0123456789.eyJzdWIiOiIx.c2ln",
        "Authorization: Bearer MARKED.0123",
        "bearer MARKED0123",
        "https://hooks.slack.com/services/T0/B0/MARKED",
        "postgres://me:MARKED@host/base",
        "OPENAI_API_KEY=MARKED",
        'PASSWORD: "MARKED and more"',
        "curl --token MARKED",
        '{"client_secret": "MARKED"}',
        "DB_PASS=MARKED",
        "db-pass: MARKED",
        "curl -u joe:MARKED",
        "curl --user=joe:MARKED",
        "curl -ujoe:MARKED",
        "Cookie: a=b; session=MARKED",
        "Authorization: Token MARKED",
        'Authorization: Digest username="x", response="MARKED"',
        "curl -H 'Authorization: Token MARKED' https://x",
        "{'api_key': 'abc MARKED'}",
        "export TOKEN='a MARKED'",
        'TOKEN="a \\" MARKED"',
        "-----BEGIN RSA PRIVATE KEY-----\nMII\nMARKED\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMARKED",
    ],
)
def test_what_has_the_shape_or_the_name_of_a_secret_is_masked(text: str) -> None:
    assert "MARKED" not in masked(text)
    assert "[secret]" in masked(text)


def test_keys_that_are_set_are_masked_whatever_they_look_like() -> None:
    assert masked("with plain-words inside", ("plain-words",)) == "with [secret] inside"
    assert masked("plain-words", ("plain", "plain-words")) == "[secret]"


@pytest.mark.parametrize("line", [BASE64, "got Ab0Cd1Ef2Gh3Ij4Kl5Mn6Op7Qr", "0123456789abcdef0123456789abcdef"])
def test_long_random_strings_are_masked_in_what_any_program_says(line: str) -> None:
    assert masked_output(f"before\n{line}\nafter").split("\n")[1].removeprefix("got ") == "[secret]"


@pytest.mark.parametrize(
    "text",
    [
        "demo (bench_0123456789ab) finished",
        "direct embedded/deepseek-coder-v2-lite-instruct-q4_k_m: 12 of 20 experiments solved, $0.12",
        "1 of 3 keys, 512 tokens: fine",
        "/home/somebody/experiments/results/2026/summary.json",
        "https://example.org/a?b=c",
        "pass: 3, bypass: 2, PASS: test_of_it",
        "-----BEGIN TESTS-----\n3 of 4",
        "python -u train.py, git push -u https://example.org/a",
    ],
)
def test_what_a_person_wants_to_know_stays(text: str) -> None:
    assert masked_output(text) == text


def test_what_stands_beside_a_header_or_a_key_stays() -> None:
    assert masked('curl -H "Cookie: a=b; c=d" https://x.org') == 'curl -H "Cookie: [secret]" https://x.org'
    block = "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----"
    assert masked(f"before\n{block}\nafter") == "before\n[secret]\nafter"


def test_of_a_command_the_name_and_its_harmless_arguments_stay() -> None:
    secrets = ["--api-key", "MARKED", "--password=MARKED", "KEY=MARKED", "-u", "joe:MARKED"]
    command = ["/usr/bin/deploy", "--region", "west", *secrets, "a b"]
    said = masked_command(command)
    assert said.startswith("deploy --region west --api-key [secret] ")
    assert said.endswith(" 'a b'")
    assert "MARKED" not in said


PIECES = ("a-", "eyJ", "key", "=", "sk-a", "A0a", "://", "bearer ")
QUOTING = ("cookie:", 'key="', "auth='\\\\", '="', "-u a", "-----BEGIN KEY-----", "-----BEGIN ", "\n")


@pytest.mark.parametrize("piece", [*PIECES, *QUOTING])
def test_a_hostile_text_does_not_take_long(piece: str) -> None:
    begun = time.process_time()
    masked_output(piece * (16384 // len(piece)))
    assert time.process_time() - begun < 1.0
