"""A new provider is one file and one entry in ``PROVIDERS``: all else is read off its record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import Server, serving_chat, streams
from lasting import Koderz, lasting

COMPATIBLE = '''
"""``acme``: a server of OpenAI's protocol at an address of its own. A provider of this test."""

import os

from koderz_core.models.openai_compatible import compatible
from koderz_core.models.provider import Advice

PROVIDER = compatible(
    address=lambda settings: os.environ["ACME_URL"],
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
from koderz_core.models import providers
import acme, parrot
providers.PROVIDERS["acme"] = acme.PROVIDER  # the one entry of each
providers.PROVIDERS["parrot"] = parrot.PROVIDER
"""
ONE = ("benchmark", "--problems", "0:1", "--strategy", "direct", "--json", "--coder")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving_chat() as served:
        monkeypatch.setenv("ACME_URL", served.url)
        yield served


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Koderz]:
    folder = tmp_path_factory.mktemp("providers")
    (folder / "acme.py").write_text(COMPATIBLE)
    (folder / "parrot.py").write_text(OWN_PROTOCOL)
    with lasting(WITH_ENTRIES, folder) as call:
        yield call


@pytest.fixture
def koderz(started: Koderz, server: Server) -> Koderz:
    """The command line of a koderz that has two providers more."""
    return started


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
