"""A new provider is one file and one entry in ``PROVIDERS``: all else is read off its record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chat_server import Server, serving_chat, streams

COMPATIBLE = '''
"""``acme``: a server of OpenAI's protocol at an address of its own. A provider of this test."""

from koderz_core.models.openai_compatible import compatible
from koderz_core.models.provider import Advice

PROVIDER = compatible(
    address=lambda settings: "{url}",
    advice=Advice(start="Start acme with `acme serve`", fetch="`acme list` shows its models", variable="acme.py"),
)
'''
OWN_PROTOCOL = '''
"""``parrot``: a model with a protocol of its own. A provider of this test."""

from koderz_core.models.capabilities import Capabilities
from koderz_core.models.provider import Lack, Provider
from koderz_core.records import Completion, Sampling, Usage


class Parrot:
    """Repeats one program."""

    def __init__(self, card):
        self.id = card.id

    def complete(self, request, on_text=None):
        text = "```python\\ndef repeat():\\n    return None\\n```"
        sampling = Sampling(max_tokens=request.sampling.max_tokens, seed=request.seed)
        return Completion(text, "stop", Usage(3, 5), seconds=0.5, honoured=sampling)

    def close(self):
        pass


PROVIDER = Provider(
    create=lambda card, settings, programs: Parrot(card),
    lack=lambda name, settings: Lack("it is asleep", "Wake it") if name == "grey" else None,
    ready="awake",
    names=("green", "grey"),
    closed=True,
    typed="green",
    rows=((".*", Capabilities(context_tokens=4096, source="the parrot's handbook")),),
)
'''
WITH_ENTRIES = """
import sys
from koderz_core.models import providers
import acme, parrot
providers.PROVIDERS["acme"] = acme.PROVIDER  # the one entry of each
providers.PROVIDERS["parrot"] = parrot.PROVIDER
from koderz_core.cli import main
main(sys.argv[1:])
"""
ONE = ("benchmark", "--problems", "0:1", "--strategy", "direct", "--json", "--coder")

Koderz = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_chat() as served:
        yield served


@pytest.fixture
def koderz(tmp_path: Path, server: Server) -> Koderz:
    """The command line of a koderz that has two providers more."""
    (tmp_path / "acme.py").write_text(COMPATIBLE.format(url=server.url))
    (tmp_path / "parrot.py").write_text(OWN_PROTOCOL)
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command, environment = [sys.executable, "-c", WITH_ENTRIES, *arguments], {**os.environ, "PYTHONPATH": path}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    return call


def test_both_are_listed_with_what_they_lack(koderz: Koderz) -> None:
    rows = {row["id"]: row for row in json.loads(koderz("models", "list", "--json").stdout)}
    assert (rows["parrot/green"]["ready"], rows["parrot/green"]["reason"]) == (True, "awake")
    assert (rows["parrot/grey"]["ready"], rows["parrot/grey"]["cure"]) == (False, "Wake it")
    assert rows["acme/*"]["cure"] in (
        "Start acme with `acme serve`, or correct acme.py",
        "`acme list` shows its models",
    )


def test_what_their_models_accept_is_shown_and_can_be_corrected(koderz: Koderz, tmp_path: Path) -> None:
    shown = json.loads(koderz("models", "show", "green", "--json").stdout)["capabilities"]
    assert (shown["context_tokens"], shown["source"]) == (4096, "the parrot's handbook")
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.toml").write_text("[acme]\ncontext_tokens = 777\n")
    corrected = json.loads(koderz("models", "show", "acme/any", "--json", "--data-dir", str(home)).stdout)
    assert corrected["capabilities"]["context_tokens"] == 777


@pytest.mark.parametrize("model", ["acme/any", "parrot/green"])
def test_their_models_are_planned_run_and_recorded(koderz: Koderz, server: Server, model: str) -> None:
    server.answer = streams({"content": "```python\ndef nothing():\n    return None\n```"})
    ended = koderz(*ONE, model)
    (row,) = json.loads(ended.stdout)
    assert (ended.returncode, row["unsolved"]) == (0, 1)
    assert row["tiers"][0]["calls"] == 1
    assert len(server.bodies) == (1 if model == "acme/any" else 0)


def test_an_unknown_name_is_answered_with_theirs(koderz: Koderz) -> None:
    ended = koderz(*ONE, "parrot/gren")
    assert (ended.returncode, "parrot/green" in ended.stderr) == (2, True)
