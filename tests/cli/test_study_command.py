"""``koderz study``: one command from a key to the answer, with the official clients of both providers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Server, says, sends, serving_chat, streams
from scripted_server import claude_says, claude_streams

from koderz_core import open_workspace
from koderz_core.events import BenchmarkOpened
from koderz_core.journal import read_all
from koderz_core.runner.header import recorded_plan

OPENAI, CLAUDE = "openai/gpt-6.1-sol", "anthropic/claude-sonnet-5-5"
STUDY = ("study", "--dataset", "humaneval", "--coder", "scripted/weak", "--quiet", "--problems")
SMALL = (*STUDY, "0:2")
HASH = re.compile(r"\b[0-9a-f]{64}\b")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that speaks both protocols, and whose models solve every problem."""
    with open_workspace() as opened:
        problems = opened.datasets.load().problems[:4]
    programs = "\n".join(problem.public.prompt + problem.canonical_solution for problem in problems)
    text = f"```python\n{programs}\n```"
    with serving_chat() as server:

        def answer(handler: BaseHTTPRequestHandler) -> None:
            chosen: Callable[..., Answer] = _claude if handler.path.endswith("/messages") else _openai
            chosen(text, streamed=bool(server.bodies[-1].get("stream")))(handler)

        server.answer, server.models = answer, ("o3-pro", "gpt-4o", "gpt-6.1-sol", "claude-sonnet-5-5")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
        yield server


def _claude(text: str, *, streamed: bool) -> Answer:
    return (
        claude_streams({"type": "text_delta", "text": text})
        if streamed
        else claude_says({"type": "text", "text": text})
    )


def _openai(text: str, *, streamed: bool) -> Answer:
    return streams({"content": text}) if streamed else says(text)


def journal(home: Path) -> Path:
    (found,) = (home / "journals").glob("*.jsonl")
    return found


@pytest.mark.parametrize(
    ("key", "frontier", "other"),
    [
        ("OPENAI_API_KEY", OPENAI, "ANTHROPIC_BASE_URL"),
        ("ANTHROPIC_API_KEY", CLAUDE, "OPENAI_BASE_URL"),
    ],
)
def test_one_key_and_one_command_give_a_registered_result_with_its_report(
    key: str,
    frontier: str,
    other: str,
    koderz: Any,
    provider: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(key, "sk-test")
    monkeypatch.delenv(other)
    monkeypatch.chdir(tmp_path)
    planned = koderz(*SMALL, "--frontier", "--plan-only")
    assert "The configuration with only the frontier model costs at most $" in planned.out
    assert not provider.bodies
    ran = koderz(*SMALL, "--frontier")
    assert ran.code == 0, ran.err
    opened = next(iter(read_all(journal(tmp_path / "home")))).event
    assert isinstance(opened, BenchmarkOpened)
    assert opened.plan.configurations[1].models["coder"] == (frontier,)
    assert HASH.findall(planned.out) == HASH.findall(ran.err) == HASH.findall(koderz("verify", opened.plan.id).out)
    assert f"direct {frontier.partition('/')[2]} solved 100 %" in ran.out
    assert re.search(
        rf"^Registered .* matches direct {frontier.partition('/')[2]} within .* Result: \w+", ran.out, re.M
    )
    assert "<html" in (tmp_path / f"study-{opened.plan.id}.html").read_text()


@pytest.mark.usefixtures("provider")
def test_the_budget_holds_and_the_same_command_never_lowers_it(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.chdir(tmp_path)
    study = (*STUDY, "0:4", "--frontier", OPENAI, "--concurrency", "1", "--max-cost")
    small = koderz(*study, "0.02")
    assert small.code == 5, small.err
    (row,) = koderz("results", "--json").json[:1]
    assert koderz("resume", row["benchmark"], "--max-cost", "5", "--quiet").code == 0
    rows = koderz("results", row["benchmark"], "--json").json
    assert [row["planned"] for row in rows] == [4] * 5
    assert sum(row["solved"] + row["unsolved"] for row in rows) == 20
    again = koderz(*study, "0.02")
    assert again.code == 0, again.err
    assert "this deviation" not in again.err
    assert "The study keeps its budget of $5.00." in again.err
    assert "Result:" in again.out


@pytest.mark.usefixtures("provider")
def test_a_smaller_amount_that_is_new_is_the_budget_of_the_study_from_then_on(
    koderz: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.chdir(tmp_path)
    study = (*SMALL, "--frontier", OPENAI)
    for words, usd in ((("--max-cost", "50"), 50.0), ((), 50.0), (("--max-cost", "5"), 5.0), ((), 5.0)):
        ran = koderz(*study, *words)
        assert ran.code == 0, ran.err
        assert recorded_plan(journal(tmp_path / "home")).budget.usd == usd


def test_the_same_command_retries_what_ended_with_an_error_as_its_registration_says(
    koderz: Any, provider: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.chdir(tmp_path)
    study, answer = (*SMALL, "--frontier", OPENAI), provider.answer
    provider.answer = sends(400, {})
    assert koderz(*study).code != 0
    ended = ("results", "--experiments", "--json")
    assert "error" in {row["outcome"] for row in koderz(*ended).json}
    provider.answer = answer
    again = koderz(*study)
    assert (again.code, "--retry-errors" in again.err) == (0, False), again.err
    assert {row["outcome"] for row in koderz(*ended).json} <= {"solved", "unsolved"}


def test_what_would_make_the_study_useless_is_refused_before_the_first_call(
    koderz: Any, provider: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.delenv("OPENAI_BASE_URL")  # the models of a server on this machine cost electricity
    for option, value, said in (
        ("--out", "/nonexistent/report.html", "its folder does not exist"),
        ("--frontier", "openai/unpriced-9", "No price is known for openai/unpriced-9"),
        ("--frontier", "no such model", "Unknown model"),
    ):
        refused = koderz(*SMALL, option, value)
        assert refused.code in (2, 3)
        assert said in refused.err
    assert not provider.bodies


def test_nothing_is_downloaded_for_a_coder_that_cannot_run(
    koderz: Any, provider: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "weights"))
    monkeypatch.setenv("KODERZ_OFFLINE", "1")  # in case it tries
    monkeypatch.setattr("koderz_core.models.embedded.find_spec", lambda _: None)
    said = koderz("study", "--dataset", "humaneval", "--problems", "0:2")
    assert said.code == 3
    assert "xllamacpp is not installed" in said.err
    assert not (tmp_path / "weights").exists()


def test_without_a_key_the_plan_is_shown_and_a_run_says_which_key_is_missing(koderz: Any) -> None:
    assert CLAUDE.partition("/")[2] in koderz(*SMALL, "--plan-only").out
    said = koderz(*SMALL)
    assert said.code == 2
    assert "ANTHROPIC_API_KEY" in said.err
