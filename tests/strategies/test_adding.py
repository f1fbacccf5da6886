"""A new strategy is one file and one entry in ``STRATEGIES``: all else is read off its class."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from lasting import Koderz, lasting

RELAY = '''
"""``relay``: every coder in turn, untested. A strategy of this test."""

from dataclasses import dataclass
from typing import ClassVar

from koderz_core.prompts import coding
from koderz_core.prompts.extraction import candidate
from koderz_core.strategies.parameters import parameter


@dataclass(frozen=True, slots=True)
class Relay:
    """Ask each coder in turn and hand in the last program. Calls: ``laps`` of each coder. An idea of this test."""

    several: ClassVar = ("coder",)
    takes_all_coders: ClassVar = True
    needs_several_coders: ClassVar = True
    tests_programs: ClassVar = False
    shows_attempts: ClassVar = False

    laps: int = parameter(1, "How often each coder is asked.")
    counting: str = parameter("last", "Whose program counts.", ("last", "first"))

    def roles(self):
        return ("coder",)

    def solve(self, ctx):
        messages = coding.first_attempt(coding.Brief(ctx.problem))
        members = [member for _ in range(self.laps) for member in range(ctx.members("coder"))]
        programs = [candidate(ctx.ask("coder", messages, member=member), ctx.problem).code for member in members]
        return programs[-1 if self.counting == "last" else 0]
'''
WITH_ENTRY = """
from koderz_core import strategies
from relay import Relay
strategies.STRATEGIES["relay"] = Relay  # the one entry
"""
TWO = ("benchmark", "--problems", "0:2", "--strategy", "relay", "--coder", "scripted/never,scripted/strong")


@pytest.fixture(scope="module")
def koderz(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Koderz]:
    """The command line of a koderz that has one strategy more."""
    folder = tmp_path_factory.mktemp("relay")
    (folder / "relay.py").write_text(RELAY)
    with lasting(WITH_ENTRY, folder) as call:
        yield call


def test_it_is_listed_with_its_roles_and_parameters(koderz: Koderz) -> None:
    (form,) = (form for form in json.loads(koderz("strategies", "--json").stdout) if form["name"] == "relay")
    assert (form["tested"], form["calls"], form["source"]) == (False, "laps of each coder.", "An idea of this test.")
    assert form["roles"] == [{"name": "coder", "doc": "Writes the programs.", "several": True}]
    laps, counting = form["parameters"]
    assert (laps["name"], laps["default"], laps["doc"]) == ("laps", 1, "How often each coder is asked.")
    assert counting["choices"] == ["last", "first"]


def test_its_parameters_are_options_and_its_name_stands_beside_the_others(koderz: Koderz) -> None:
    said = " ".join(koderz("benchmark", "--help-all").stdout.split())
    assert "How often each coder is asked. For relay. [default: 1]" in said
    assert "cascade, ensemble, escalation, relay, router, selected use all models together" in said


def test_it_is_planned_run_and_recorded(koderz: Koderz) -> None:
    ended = koderz(*TWO, "--laps", "2", "--json")
    (row,) = json.loads(ended.stdout)
    assert (ended.returncode, row["strategy"], row["solved"], row["unsolved"]) == (0, "relay", 2, 0)
    assert (row["parameters"], row["tiers"][0]["calls"]) == ({"laps": 2, "counting": "last"}, 8)
    again = koderz("resume", row["benchmark"], "--json")
    assert json.loads(again.stdout)[0]["solved"] == 2


def test_its_other_parameter_decides_which_program_counts(koderz: Koderz) -> None:
    configuration = "relay coder=scripted/never,scripted/strong counting=first"
    (row,) = json.loads(koderz("benchmark", "--problems", "0:1", "--configuration", configuration, "--json").stdout)
    assert (row["solved"], row["unsolved"]) == (0, 1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--coder", "scripted/strong"), "relay asks one coder after the other, so it needs several coders"),
        (("--gate", "examples"), "None of the chosen strategies runs gate tests, so --gate would be ignored"),
        (("--counting", "middle"), "relay: counting must be one of last, first, not 'middle'"),
    ],
)
def test_what_contradicts_its_facts_is_refused(koderz: Koderz, words: tuple[str, ...], reason: str) -> None:
    ended = koderz(*TWO, *words)
    assert (ended.returncode, reason in " ".join(ended.stderr.split())) == (2, True)
