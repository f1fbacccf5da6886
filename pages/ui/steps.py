"""One step of an experiment: what was asked, what came back, what the tests said."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.export.formats import count, duration, money
from koderz_core.records.rows import CallRow, ExperimentDetails, Step
from pages.ui.address import choice
from pages.ui.text import show_diff, show_text

NAMES = {"spec": "spec", "checkpoint": "review", "answer": "answer", "iteration": ""}
VIEWS = ("Program", "Diff", "Tests", "Prompt", "Answer", "Calls")


def step_name(step: Step) -> str:
    """Short, in our words only: ``spec``, ``✓ 3``, ``review 1``."""
    if step.iteration is not None:
        return f"{'✓' if step.iteration.passed else '✗'} {step.number}"
    return NAMES[step.kind] + (f" {step.number}" if step.kind == "checkpoint" else "")


def show_step(workspace: Workspace, details: ExperimentDetails, step: Step) -> None:
    """The step's figures, and one of its views."""
    st.caption(f"{step.kind} · {duration(step.seconds)} · {money(step.cost_usd)} · calls: {len(step.calls)}")
    texts = workspace.results.texts(_named(step))
    has = {"Program": step.program, "Diff": step.previous and step.program, "Tests": _verdict(details, step)}
    views = [view for view in VIEWS if has.get(view, step.calls)]
    if step.note is not None:
        show_text(step.note.text, f"{step.note.kind}-{step.number}")
    if not views:
        st.info("Under way.", icon="⏳")
        return
    view = choice("view", "View", views, short=True)
    if view == "Program":
        show_text(texts[str(step.program)], f"program-{step.number}", "python")
    elif view == "Diff":
        show_diff(texts[str(step.previous)], texts[str(step.program)], f"diff-{step.number}")
    elif view == "Tests":
        _tests(details, step)
    elif view == "Calls":
        st.dataframe(_calls(step), hide_index=True, alt="Calls of this step")
    else:
        _said(step, texts, view)


def _named(step: Step) -> list[str]:
    """The hashes of every text that the step shows."""
    said = [call.text for call in step.calls] + [message.text for call in step.calls for message in call.messages]
    return [one for one in (step.program, step.previous, *said) if one]


def _verdict(details: ExperimentDetails, step: Step) -> bool:
    return step.iteration is not None or any(score.code == step.program for score in details.scores)


def _tests(details: ExperimentDetails, step: Step) -> None:
    """Each failed test with what was expected and what came; an answer nobody tried has those of its score."""
    if step.iteration is not None:
        one = step.iteration
        _marks(
            f"{one.tests_passed}/{one.tests_total} gate tests passed", one.marks, one.error, one.message, one.failures
        )
    for score in details.scores:
        if score.code == step.program and score.held_out is not None:
            held = score.held_out
            told = f"{held.tests_passed}/{held.tests_total} held-out tests passed (scored after the end)"
            _marks(told, held.marks, held.error, held.message, held.failures)


def _marks(told: str, marks: str, error: str | None, message: str, failures: tuple[object, ...]) -> None:
    st.text(told + (f" · first failure: {error}" if error else ""))
    st.text(" ".join({"P": "✓", "F": "✗", "-": "·"}[mark] for mark in marks))
    if message:
        show_text(message, "message")
    if failures:
        columns = ["index", "source", "expected", "actual", "message"]
        table = pd.DataFrame([{name: getattr(failure, name) for name in columns} for failure in failures])
        st.dataframe(table, hide_index=True, alt="Tests that failed")


def _calls(step: Step) -> pd.DataFrame:
    return pd.DataFrame([_call(call) for call in step.calls])


def _call(call: CallRow) -> Mapping[str, object]:
    speed = call.output_tokens / call.seconds if call.output_tokens and call.seconds else None
    return {
        "role": call.role,
        "model": call.model,
        "tier": call.tier,
        "attempt": call.attempt,
        "state": call.state,
        "ended": call.finish or call.message,
        "tokens in": count(call.input_tokens),
        "tokens out": count(call.output_tokens),
        "tokens/s": None if speed is None else round(speed, 1),
        "first token": duration(call.first_token_seconds),
        "time": duration(call.seconds),
        "cost": money(call.cost_usd) if call.state == "finished" else "",
        "priced by": call.cost_source,
        "temperature": call.sampling.temperature,
    }


def _said(step: Step, texts: Mapping[str, str], view: str) -> None:
    for call in step.calls:
        st.caption(f"{call.role}, attempt {call.attempt}")
        if view == "Prompt":
            for message in call.messages:
                st.caption(message.role)
                show_text(texts[message.text], f"prompt-{call.ordinal}-{message.role}")
        elif call.text is not None:
            show_text(texts[call.text], f"answer-{call.ordinal}")
        else:
            st.text(call.message or "No answer yet.")
