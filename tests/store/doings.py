"""Anything that a runner can say of two experiments, in any order."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from koderz_core.events import CallFailed, CandidateScored, CodeTested, ExperimentFinished, ExperimentStarted
from koderz_core.records import Verdict

MODELS = ("ollama/qwen2.5-coder:0.5b", "anthropic/claude-opus-4-5", "nobody/knows")
RIGHT = Verdict("PP", (), True, None, "", 0.5, "limited", shared=True)
WRONG = Verdict("PF", (), True, "assertion", "", 0.5, "limited")
BUSY = CallFailed("busy", 0.5, True)
ENERGY = {"local_watts": 65.0, "usd_per_kwh": 0.15, "local_usd_per_hour": 0.0}
WAYS = ("start", "ask", "answer", "unpriced", "fail", "test", "score", "solve", "lose", "read")
DOINGS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from(WAYS)), min_size=12, max_size=40)


def do(journal, at, ordinal, doing):
    """What the runner can say next. Costs are powers of two, so that their sums are exact in any order."""
    experiment = journal.plan.experiments()[at]
    if doing in ("ask", "answer", "unpriced", "fail"):  # each begins the call anew, whatever came of it before
        journal.ask(experiment, ordinal, MODELS[ordinal], 2 if doing == "fail" else 1, reserved_usd=1.0)
    code = journal.text(f"program {ordinal}")
    told = {
        "start": lambda: journal.say(ExperimentStarted(experiment), experiment.id),
        "answer": lambda: journal.answer(experiment, ordinal, "def f(): ...", 2.0**-ordinal),
        "unpriced": lambda: journal.answer(experiment, ordinal, "def f(): ...", None),
        "fail": lambda: journal.say(replace(BUSY, wait_seconds=4.0 if at else None), experiment.id, ordinal),
        "test": lambda: journal.say(CodeTested(ordinal, "r", code, "fence", RIGHT), experiment.id, ordinal),
        "score": lambda: journal.say(CandidateScored(code, True, RIGHT if ordinal else WRONG, None), experiment.id),
        "solve": lambda: journal.say(ExperimentFinished("solved", "gate", "oracle", code, 2.0), experiment.id),
        "lose": lambda: journal.say(ExperimentFinished("error", None, None, None, 1.0, error="full"), experiment.id),
    }
    if doing in told:
        told[doing]()
