"""What a diagnosis finds: each thing as it really is, what is missing with its cure, and never a key."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections import namedtuple
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from chat_server import sends, serving_chat

from koderz_core.config import Settings, load_settings
from koderz_core.diagnosis import Diagnosis, Finding, diagnose, model_servers, models
from koderz_core.diagnosis.installation import disk, grader, keys
from koderz_core.diagnosis.journals import check_journals
from koderz_core.diagnosis.model_servers import all_ports, ports
from koderz_core.errors import JournalError
from koderz_core.journal import Journal, read
from koderz_core.journal.checking import check
from koderz_core.models.availability import Availability

KEY = "sk-planted-0123456789"
READY = Availability("ollama/a", "local", ready=True, reason="served now", cure="")
ABSENT = Availability("ollama/*", "local", ready=False, reason="nothing answers", cure="Start Ollama")
SCRIPTED = Availability("scripted/weak", "local", ready=True, reason="", cure="")


def only(findings: list[Finding], area: str = "") -> Finding:
    (found,) = [finding for finding in findings if area in {finding.area, ""}]
    return found


def test_a_key_is_told_but_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = {finding.subject: finding for finding in keys(load_settings())}
    assert found["OPENAI_API_KEY"].state == "ready"
    assert found["ANTHROPIC_API_KEY"].state == "absent"
    assert KEY not in repr(found)


def test_one_model_that_is_not_scripted_is_needed() -> None:
    assert Diagnosis(tuple(models([READY, SCRIPTED]))).missing == ()
    (missing,) = Diagnosis(tuple(models([ABSENT, SCRIPTED]))).missing
    assert missing.cure == "Start Ollama"


def test_a_data_folder_that_is_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = only(list(disk(load_settings(home=tmp_path / "file" / "home"))))
    assert (found.state, found.said) == ("missing", f"{tmp_path / 'file'} is a file")


def test_a_full_disk_is_missing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**12, 10**12 - 10**6, 10**6))
    (found,) = disk(settings)
    assert (found.state, found.said) == ("missing", "0.0 GB free")
    assert "KODERZ_HOME" in found.cure


def test_a_tier_that_does_not_hold_is_missing_if_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # no bubblewrap
    found = {finding.subject: finding for finding in grader(load_settings(sandbox="hardened"))}
    assert found["tier in use"].state == "missing"
    assert "bubblewrap" in found["tier in use"].said


def test_a_journal_that_is_written_names_the_process_that_lives(settings: Settings) -> None:
    journal = Journal(settings.journals_dir / "bench_a.jsonl")
    found = [finding for finding in check_journals(settings) if finding.subject == "bench_a"]
    journal.close()
    assert f"process {os.getpid()} is writing to it" in only(found).said
    assert not [finding for finding in check_journals(settings) if finding.subject == "bench_a"]


def test_a_journal_whose_writer_died_names_it_and_the_way_on(settings: Settings) -> None:
    path = settings.journals_dir / "bench_b.jsonl"
    write = "import os, pathlib, sys, koderz_core.journal as j; j.Journal(pathlib.Path(sys.argv[1])); os._exit(9)"
    with subprocess.Popen([sys.executable, "-c", write, str(path)]) as writer:
        writer.wait()
    path.touch()
    found = only([finding for finding in check_journals(settings) if finding.subject == "bench_b"])
    assert f"the last process that wrote to this journal (process {writer.pid}) ended" in found.said
    assert found.cure == "koderz resume bench_b"


def test_only_journals_that_the_index_could_not_read_are_read_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.journals_dir.mkdir(parents=True)
    corrupt, torn = settings.journals_dir / "bench_c.jsonl", settings.journals_dir / "bench_d.jsonl"
    corrupt.write_bytes(b"no event\n")
    torn.write_bytes(b"no event\n" * 20_000 + b'{"torn')
    checked: list[Path] = []
    monkeypatch.setattr("koderz_core.diagnosis.journals.check", lambda path: checked.append(path) or check(path))
    with pytest.raises(JournalError) as fault:
        read(corrupt)
    found = {
        finding.subject: finding for finding in check_journals(settings, [str(fault.value), "The table is too small."])
    }
    assert checked == [corrupt]
    assert (found["bench_c"].said, found["bench_c"].cure) == ("line 1 cannot be read", "koderz doctor --repair")
    assert "is incomplete (6 bytes)" in found["bench_d"].said
    assert found["the index"].said == "The table is too small."


def test_a_server_at_a_known_port_is_told_with_how_to_ask_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_chat() as chat:
        port = int(chat.url.rpartition(":")[2].partition("/")[0])
        monkeypatch.setattr(model_servers, "KNOWN_PORTS", {port: "llama.cpp"})
        found = only(list(ports(settings)))
        at_home = only(list(ports(load_settings(vllm_base_url=chat.url))))
    assert (found.state, found.cure) == (
        "ready",
        f"To use this server: set OPENAI_BASE_URL={chat.url}, and write openai/NAME for its model NAME",
    )
    assert "available as vllm/NAME" in at_home.said


def test_what_listens_but_is_no_model_server_is_told_apart(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_servers, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        monkeypatch.setattr(model_servers, "KNOWN_PORTS", {mute.getsockname()[1]: "vLLM"})
        assert "is not a model server" in only(list(ports(settings))).said


def test_all_ports_name_the_protocols_those_that_are_set_and_the_chosen_ones(settings: Settings) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        known = {"/api/version": {"version": "0.40"}, "/v1/models": {"data": [{"id": "it"}]}}
        sends(200 if handler.path in known else 404, known.get(handler.path, {}))(handler)

    with serving_chat() as chat:
        chat.listing = answer
        root = chat.url.removesuffix("/v1")
        port = int(root.rpartition(":")[2])
        at_home = {found.subject: found for found in all_ports(load_settings(ollama_base_url=root))}
        (chosen,) = [found for found in all_ports(settings, [port]) if "chosen" in found.subject]
    assert at_home[f"port {port} (set for ollama)"].said == (
        "speaks Ollama's and OpenAI's protocol; chat models: 1, available as ollama/NAME"
    )
    assert chosen.cure == f"To use this server: set OLLAMA_BASE_URL={root}, and write ollama/NAME for its model NAME"
    assert any("Cursor" in subject for subject in at_home)


def test_a_diagnosis_is_whole_on_a_machine_with_nothing(tmp_path: Path) -> None:
    found = diagnose(load_settings(home=tmp_path / "none"), [ABSENT, SCRIPTED], "1.2.3")
    areas = {"versions", "grader", "datasets", "disk", "journals", "keys", "notices", "servers", "models"}
    assert {finding.area for finding in found.findings} == areas
