"""What a terminal shows while a benchmark runs: a line per iteration and review, in a terminal with a bar below."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from sample import thinned

from koderz_core import Order, Wanted, open_workspace
from koderz_core.cli.feed import Feed, Line
from koderz_core.events import (
    CallFinished,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    Entry,
    Event,
    ExperimentFinished,
    ExperimentStarted,
)
from koderz_core.records import Cost, Plan, Sampling, TestFailure, Usage, Verdict

ONE = ("--problems", "0:1", "--coder", "scripted/never", "--max-iterations", "3", "--strategy")
REVIEWED = ("--reviewer", "scripted/strong", "--checkpoint-interval", "2", "--no-baselines")
HOSTILE = "\x1b[2J\r\n\N{RIGHT-TO-LEFT OVERRIDE}HumanEval/9 ✓\u2028\x9b31m\t語" * 300
SPENT = r" · \d+ ms · \$0\.00"


def lines(said: Any) -> list[str]:
    return [line for line in said.err.splitlines() if line.startswith("HumanEval/")]


def test_each_iteration_is_a_line_with_its_place_verdict_first_failure_seconds_and_cost(koderz: Any) -> None:
    found = lines(koderz("benchmark", *ONE, "repair", "--no-baselines"))
    assert len(found) == 3
    for place, line in enumerate(found, start=1):
        expected = rf"HumanEval/0 SCRIPTED {place}/3 ✗ 0 of 7 tests passed: got None, expected True{SPENT}"
        assert re.fullmatch(expected, line), line


def test_of_several_configurations_each_line_names_its_own_and_a_review_has_a_line(koderz: Any) -> None:
    found = lines(koderz("run", "--problem-id", "HumanEval/0", *ONE[2:], "direct,supervised", *REVIEWED[:-1]))
    assert any(line.startswith("HumanEval/0 direct SCRIPTED never ✗ unsolved, 0 of 7 held-out") for line in found)
    (review,) = (line for line in found if "review" in line)
    assert "SCRIPTED never + SCRIPTED strong review 1 after iteration 2, because the checkpoint interval" in review
    assert " was reached: Root cause" in review


def test_quiet_leaves_the_lines_out_and_json_prints_nothing_beside(koderz: Any) -> None:
    quiet = koderz("benchmark", *ONE, "repair", "--no-baselines", "--quiet")
    assert not lines(quiet)
    assert "It cost" in quiet.err
    assert koderz("resume", quiet.err.partition(":")[0], "--quiet").code == 0
    assert "✗" not in koderz("benchmark", *ONE, "repair", "--no-baselines", "--name", "x", "--json").err


@pytest.fixture
def plan() -> Iterator[Plan]:
    with open_workspace() as opened:
        wanted = Wanted("supervised", {"coder": "scripted/weak"}, {"max_iterations": 5, "checkpoints": False})
        yield opened.plans.plan(Order([wanted, Wanted("direct", {"coder": "scripted/weak"})], "0:1"))


def said(plan: Plan, *events: Event) -> list[Line]:
    """What a feed says of the first experiment of a plan."""
    feed, one = Feed(plan), plan.experiments()[0]
    told = [feed.add(Entry(0.0, event, one.id)) for event in (ExperimentStarted(one), *events)]
    return [line for line in told if line]


FAILED = Verdict("PPFFFFF", (), True, "assertion", "", 0.2, "strong")
USED = Usage(1, 1, 0, 0)
ANSWERED = CallFinished("", "stop", USED, Cost(0.00002, "price list"), 4.0, None, Sampling())
TESTED = CodeTested(3, "", None, "", FAILED)
ENDED = ExperimentFinished("unsolved", "gate", "held_out", None, 9.0)


def test_a_step_costs_what_its_calls_cost_and_takes_what_calls_and_test_take(plan: Plan) -> None:
    first, second, unpriced = said(
        plan, ANSWERED, ANSWERED, TESTED, TESTED, replace(ANSWERED, cost=Cost(None, "")), TESTED
    )
    assert first.spent == "8.2 s · $0.000040"
    assert second.spent == "0.2 s · $0.00"
    assert unpriced.spent == "4.2 s · unpriced"


def test_what_the_last_iteration_did_not_say_is_said_at_the_end(plan: Plan) -> None:
    passed = replace(FAILED, marks="PPP", error=None)
    scored = CandidateScored("", True, passed, replace(FAILED, message="wrong"))
    *_, held_out = said(plan, ANSWERED, CodeTested(1, "", None, "", passed), scored, ENDED)
    assert (held_out.what, held_out.message) == ("✗ unsolved, 2 of 7 held-out tests passed", "wrong")
    assert held_out.spent == ""  # nothing was asked since
    assert said(plan, ANSWERED, scored, ENDED)[0].spent == "4.0 s · $0.000020"
    not_run = replace(scored, held_out=replace(FAILED, marks="----", message=""))
    assert said(plan, not_run, ENDED)[0].what == "✗ unsolved, held-out tests not run"
    oracle = replace(ENDED, score_kind="oracle")
    assert len(said(plan, TESTED, replace(scored, held_out=None), oracle)) == 1  # only its iteration
    assert said(plan, replace(ENDED, outcome="cancelled")) == []
    (broken,) = said(plan, replace(ENDED, outcome="error", error="HTTP 500"))
    assert (broken.what, broken.message) == ("! error", "HTTP 500")


@pytest.mark.parametrize("width", [20, 80, 200])
def test_hostile_texts_are_cut_to_one_line_that_no_terminal_obeys(plan: Plan, width: int) -> None:
    failure = TestFailure(0, "", HOSTILE, HOSTILE, HOSTILE)
    told = said(
        replace(plan, configurations=plan.configurations),
        ExperimentStarted(replace(plan.experiments()[0], problem=HOSTILE[:70])),
        replace(TESTED, verdict=replace(FAILED, failures=(failure,))),
        CheckpointReviewed(1, 3, HOSTILE),
        replace(ENDED, outcome="error", error=HOSTILE),
    )
    assert len(told) == 3
    for line in told:
        shown = line.within(width)
        assert shown.isprintable()
        assert sum(1 + (c == "語") for c in shown) <= width


def test_a_narrow_terminal_keeps_verdict_and_cost_of_a_long_label() -> None:
    label = "supervised qwen2.5-coder-0.5b + claude-opus-4-5 (gate=examples)"
    line = Line("HumanEval/31", label, "3/5 ✗ 2 of 7 tests passed", "got None, expected True", "4.2 s · $0.000020")
    assert line.within(80) == ("HumanEval/31 supervise…examples) 3/5 ✗ 2 of 7 tests passed · 4.2 s · $0.000020")
    assert line.within(200).endswith(
        "(gate=examples) 3/5 ✗ 2 of 7 tests passed: got None, expected True · 4.2 s · $0.000020"
    )


def on_a_terminal(coder: str = "scripted/never", **environment: str) -> str:
    """What a benchmark writes on a real pseudo-terminal of 100 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    words = ("benchmark", *ONE, "repair", "--no-baselines", "--coder", coder)
    command = [sys.executable, "-c", "from koderz_core.cli import main; main()", *words]
    given = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env={**given, "TERM": "xterm", **environment}
    ) as process:
        os.close(theirs)
        written = bytearray()
        try:
            while part := os.read(ours, 4096):
                written += part
        except OSError:  # Linux says so that the other end is closed
            pass
        assert process.wait() == 0
    os.close(ours)
    return written.decode()


def test_in_a_terminal_a_bar_stays_below_the_lines() -> None:
    written = on_a_terminal("scripted/stubborn")  # slow, so that the bar is drawn between the lines
    told = [at.start() for at in re.finditer(r"HumanEval/0 SCRIPTED \d/3 ✗ 0 of 7 tests passed", written)]
    drawn = [at.start() for at in re.finditer(r"─+ 0/1 experiments · 0 solved", written)]
    assert len(told) == 3
    assert drawn[0] < told[0] < drawn[-1]
    assert all(any(first < bar < second for bar in drawn) for first, second in pairwise(told))


@pytest.mark.parametrize("plainly", thinned([{"NO_COLOR": "1"}, {"TERM": "dumb"}], "plain terminals"))
def test_where_plain_text_is_asked_for_there_is_no_bar_and_no_control_character(plainly: dict[str, str]) -> None:
    written = on_a_terminal(**plainly).replace("\r\n", "\n")
    assert len(re.findall(r"^HumanEval/0 SCRIPTED \d/3 ✗.*\$0\.00$", written, re.MULTILINE)) == 3
    assert "─" not in written
    assert all(line.isprintable() for line in written.splitlines())
