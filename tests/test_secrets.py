"""Keys never get out: a benchmark with every kind of error, and all that it leaves behind is searched for them."""

from __future__ import annotations

import base64
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import cycle
from pathlib import Path

import pytest
from chat_server import Answer, says, sends, serving_chat
from menu import PAGES
from sample import thinned
from streamlit.testing.v1 import AppTest

import koderz_core
from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.cli import main
from koderz_core.config import load_settings
from koderz_core.errors import KoderzError
from koderz_core.report.formats import csv_of
from koderz_core.workspace import leave

KEYS = {
    "OPENAI_API_KEY": "sk-planted-openai-0123456789",
    "ANTHROPIC_API_KEY": "sk-planted-anthropic-0123456789",
    "OLLAMA_API_KEY": "planted-ollama-0123456789",
}
PASSWORD = "planted-password-0123456789"
MARK = "planted-"
APP = Path(koderz_core.__file__).parents[1] / "app.py"


def encoded(secret: str) -> str:
    """As a header carries a password."""
    return base64.b64encode(f"user:{secret}".encode()).decode()


def echoes(status: int) -> Answer:
    """An answer of a server that quotes what it was sent, the key included."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        said = f"you sent {dict(handler.headers)}"
        sends(status, {"error": {"message": said, "type": said, "code": said}, "detail": said})(handler)

    return answer


def breaks_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


ANSWERS = (
    *map(echoes, (400, 401, 403, 404, 429, 500, 503, 529)),
    breaks_off,
    sends(200, "<html>", "text/html"),
    says("```python\ndef f():\n    import os\n    return sorted(os.environ.items())\n```"),
    says(""),
)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """A workspace with keys everywhere, whose models are all behind one server with every kind of fault."""
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    with serving_chat() as chat:
        turns = cycle(ANSWERS)
        chat.answer = lambda handler: next(turns)(handler)  # noqa: PLW0108 (another one each time)
        plain = chat.url.removesuffix("/v1")
        guarded = plain.replace("://", f"://user:{PASSWORD}@")  # what stands there is sent instead of a key
        monkeypatch.setenv("OPENAI_BASE_URL", f"{plain}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", plain)
        monkeypatch.setenv("VLLM_BASE_URL", f"{guarded}/v1")
        monkeypatch.setenv("OLLAMA_BASE_URL", guarded)
        monkeypatch.setenv("KODERZ_RETRIES", "1")
        chat.models = ("it",)
        with open_workspace() as opened:
            yield opened
        sent = repr(chat.headers)
        assert all(KEYS[name] in sent for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")), "nothing was at stake"
        assert encoded(PASSWORD) in sent


def searched(folder: Path) -> Iterator[str]:
    """Every file, bytes as they are; DuckDB keeps long texts as they are too."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes().decode("latin-1")


def said_by(call: Callable[[], object]) -> str:
    """The whole traceback of what was raised, causes and all, as a log or a bug report has it."""
    try:
        call()
    except KoderzError as error:
        return "".join(traceback.format_exception(error))
    return ""


def shown() -> Iterator[str]:
    """Every page; the first is the one that a dashboard opens with."""
    app = AppTest.from_file(str(APP), default_timeout=60).run()
    for page in ("overview", *(page for page in PAGES if page != "overview")):
        if page != "overview":
            app.switch_page(f"pages/{page}.py").run()
        assert not app.exception
        yield from (str(element) for element in app.main)
        yield from (table.value.to_csv() for table in app.dataframe)


def test_no_key_is_in_anything_that_a_benchmark_leaves_behind(
    planted: Workspace, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    caplog.set_level(logging.WARNING)
    names = ("openai/it", "vllm/it", "anthropic/it", "ollama/it")
    found = [said_by(lambda name=name: planted.models.ask(name, "hello")) for name in names for _ in ANSWERS]
    dataset = planted.grading.keep_problem("def f():\n    pass\n", "assert f() == 1")
    order = Order([Wanted("supervised", {"coder": name}, {"max_iterations": 3}) for name in names], "all", repeats=3)
    plan = planted.plans.plan(order, dataset)
    with suppress(KoderzError):
        planted.runs.run(plan, concurrency=4)
    rows = planted.results.experiments(plan.id)
    assert {"error"} <= {row.outcome for row in rows}
    found += [csv_of(planted.results.frame(table)).decode() for table in ("experiments", "iterations", "calls")]
    report = str(tmp_path / "report.json")
    for command in (["results"], ["analyze", plan.id], ["doctor", "--json", report], ["models", "list"]):
        with pytest.raises(SystemExit):
            main(command)
    leave()
    found += shown()
    leave()
    found += [caplog.text, *capsys.readouterr(), *searched(load_settings().home), *searched(tmp_path)]
    text = "\n".join(found)
    assert "error" in text
    assert plan.id in text
    for secret in (*KEYS.values(), PASSWORD):
        assert secret not in text, around(text, secret)
        assert encoded(secret) not in text, around(text, encoded(secret))
    assert MARK not in text, around(text, MARK)


@pytest.mark.parametrize("name", thinned(["openai/it", "anthropic/it"], "clients told to log everything"))
def test_no_password_is_in_what_clients_log_even_if_they_are_told_to(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_chat() as server:
        server.answer = sends(401, {})
        url = server.url.replace("//", f"//user:{PASSWORD}@")
        for publisher in ("OPENAI", "ANTHROPIC"):
            monkeypatch.setenv(f"{publisher}_LOG", "debug")
            monkeypatch.setenv(f"{publisher}_BASE_URL", url)
            monkeypatch.setenv(f"{publisher}_API_KEY", KEYS[f"{publisher}_API_KEY"])
        words = (sys.executable, "-c", "from koderz_core.cli import main; main()", "models", "test", name)
        said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "answered 401" in said.stderr
    assert MARK not in said.stdout + said.stderr, around(said.stderr, MARK)


def around(text: str, secret: str) -> str:
    at = text.index(secret)
    return text[max(0, at - 300) : at + 100]
