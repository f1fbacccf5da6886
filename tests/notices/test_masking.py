"""What leaves this machine holds no secret, and still says what a person wants to know."""

from __future__ import annotations

import time

import pytest

from koderz_core.notices.masking import masked, masked_command, masked_output

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
    ],
)
def test_what_has_the_shape_or_the_name_of_a_secret_is_masked(text: str) -> None:
    assert "MARKED" not in masked(text)
    assert "[secret]" in masked(text)


def test_keys_that_are_set_are_masked_whatever_they_look_like() -> None:
    assert masked("with plain-words inside", ("plain-words",)) == "with [secret] inside"


@pytest.mark.parametrize("line", [BASE64, "got Ab0Cd1Ef2Gh3Ij4Kl5Mn6Op7Qr", "0123456789abcdef0123456789abcdef"])
def test_long_random_strings_are_masked_in_what_any_program_says(line: str) -> None:
    assert masked_output(f"before\n{line}\nafter").split("\n")[1].removeprefix("got ") == "[secret]"


@pytest.mark.parametrize(
    "text",
    [
        "demo (bench_0123456789ab) finished",
        "direct embedded/deepseek-coder-v2-lite-instruct-q4_k_m: 12 of 20 solved, $0.12",
        "1 of 3 keys, 512 tokens: fine",
        "/home/somebody/experiments/results/2026/summary.json",
        "https://example.org/a?b=c",
    ],
)
def test_what_a_person_wants_to_know_stays(text: str) -> None:
    assert masked_output(text) == text


def test_of_a_command_the_name_and_its_harmless_arguments_stay() -> None:
    command = ["/usr/bin/deploy", "--region", "west", "--api-key", "MARKED", "--password=MARKED", "KEY=MARKED", "a b"]
    said = masked_command(command)
    assert said.startswith("deploy --region west --api-key [secret] ")
    assert said.endswith(" 'a b'")
    assert "MARKED" not in said


@pytest.mark.parametrize("piece", ["a-", "eyJ", "key", "=", "sk-a", "A0a", "://", "bearer "])
def test_a_hostile_text_does_not_take_long(piece: str) -> None:
    begun = time.process_time()
    masked_output(piece * (16384 // len(piece)))
    assert time.process_time() - begun < 1.0
