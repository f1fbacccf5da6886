"""The transcript of an experiment, shown on several pages: its figures, its problem, and a timeline of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from os.path import commonprefix

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.records import Kind, Problem
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import BenchmarkRow, CallRow, ExperimentDetails, ExperimentRow, Step
from koderz_core.report.formats import SHARED, count, duration, money, note_title, numbered, one_line
from koderz_core.report.patches import is_patch
from koderz_core.report.problems import MEANINGS, parts_of, problem_facts
from koderz_core.report.timeline import passed_sections, repeated, review_outcome, step_marks, step_name
from pages.ui.address import choice, choice_list, keep
from pages.ui.edge import redrawn
from pages.ui.frame import show_facts
from pages.ui.programs import show_diff, show_program
from pages.ui.status import show_scripted, show_standing
from pages.ui.tables import outcome, tall
from pages.ui.text import show_parts, show_text
from pages.ui.verdicts import show_test_changes, show_verdict

EVERY_SECONDS = 1.0
ENDED = ("finished", "interrupted")
VIEWS = ("Program", "Diff", "Tests", "Prompt", "Answer", "Calls")
GIVEN: Mapping[Kind, str] = {"repair": "the faulty program", "module": "the given file"}
FEWEST_SHARED = 4  # lines at the beginning of two prompts that are folded
MOST_STEPS = 20  # steps in the list, around the chosen one, so that it stays visible without scrolling
KEYS = ("Alt+Up", "Alt+Down")  # single letters would act while a user types or dictates (WCAG 2.1, 2.1.4)


def show_transcript(workspace: Workspace, row: ExperimentRow, benchmark: BenchmarkRow) -> None:
    """Everything that happened in an experiment of the benchmark, redrawn until it ends; the page then runs again."""
    moving = row.state != "finished" and benchmark.under_way

    def draw() -> None:
        details = workspace.results.experiment(row.id)
        if moving and details.experiment.state in ENDED:
            st.rerun()
        _draw(workspace, details, benchmark)

    redrawn("experiment", draw, EVERY_SECONDS if moving else None)


def _draw(workspace: Workspace, details: ExperimentDetails, benchmark: BenchmarkRow) -> None:
    row = details.experiment
    show_scripted(row)
    show_facts(
        {
            "outcome": outcome(row) + (f" ({row.failure})" if row.failure else ""),
            "iterations": count(row.iterations),
            "time": duration(row.seconds),
            "cost": money(row.cost_usd),
        }
    )
    spent = f"tokens: {count(row.input_tokens)} in, {count(row.output_tokens)} out"
    st.caption(f"calls: {count(row.calls)} · {spent}" + (f" · ⚠ {SHARED}" if row.shared else ""))
    if row.failure and (meaning := MEANINGS.get(row.failure)):
        st.text(meaning)
    show_standing(workspace, row, benchmark)
    _show_problem(workspace, row)
    if not details.steps:
        st.caption("No call or test of this experiment has been recorded yet.")
        return
    left, right = st.columns([1, 3], gap="medium")
    with left:
        step = choose_step(details)
    with right:
        show_step(workspace, details, step)


def _show_problem(workspace: Workspace, row: ExperimentRow) -> None:
    """The text of the problem, which is read from its dataset only when it is opened."""
    place = st.expander("Problem", icon="🧩", key="problem text", on_change="rerun")
    if not place.open:
        return
    with place:
        problem = workspace.experiments.problem(row)
        if problem is None:
            st.caption(
                "The dataset of this problem is missing or has changed. To read the problem, open the first prompt of "
                "the experiment."
            )
            return
        st.text(problem_facts(problem))
        show_parts(parts_of(problem), "problem")
        _show_files(problem)
        if problem.canonical_solution and st.toggle("Canonical solution", key="canonical solution"):
            show_program(problem.canonical_solution, "canonical-solution")


def _show_files(problem: Problem) -> None:
    """The files of a repository that a patch may change."""
    if editable := problem.public.editable:
        lines = [problem.public.files.get(path, "").count("\n") for path in editable]
        table = pd.DataFrame({"editable file": list(map(one_line, editable)), "lines": lines})
        st.dataframe(table, hide_index=True, height=tall(len(table)), width="content", alt="Editable files")


def show_step(workspace: Workspace, details: ExperimentDetails, step: Step) -> None:
    """The step's figures and one of its views. Every step offers every view, so that the chosen one stays chosen."""
    mark, tests = step_marks(step)
    st.text(" · ".join(part for part in (f"{mark} {step_name(step)}".strip(), tests and f"{tests} gate tests") if part))
    st.caption(f"{duration(step.seconds)} · {_dollars(step)} · calls: {len(step.calls)}")
    if step.iteration is not None and (same := repeated(details.iterations).get(step.iteration.iteration)):
        st.text(f"This program is the same as in iteration {same}.")
    _show_failed_recalls(details)
    texts = _Texts(workspace.results.texts(_hashes(details, step)))
    if step.note is not None:
        _show_note(step.note, details, f"{step.note.kind}-{step.number}")
    view = choice("view", "View", VIEWS, default="Program" if step.program else "Prompt", short=True)
    shown = {
        "Program": lambda: _show_program(step, texts),
        "Diff": lambda: _show_diff(workspace, details.experiment, step, texts),
        "Tests": lambda: _show_tests(workspace, details, step, texts),
        "Prompt": lambda: _show_prompts(details, step, texts),
        "Answer": lambda: _show_answers(step, texts),
        "Calls": lambda: _show_calls(step),
    }
    if not shown[view]():
        st.info("This view has no content for this step.")


def _dollars(step: Step) -> str:
    """Streamlit reads text between two dollar signs as a formula."""
    return money(step.cost_usd).replace("$", r"\$")


class _Texts(dict[str, str]):
    """Texts by hash, with a message in place of a text that no journal holds."""

    def __missing__(self, sha256: str) -> str:
        return f"No journal in this data folder contains this text (its SHA-256 starts with {sha256[:12]})."


def _show_note(note: NoteRow, details: ExperimentDetails, key: str) -> None:
    """A model's note for later prompts; for a review also its effect and the parts that were not passed on."""
    passed_on, kept_back = passed_sections(note)
    for sentence in (
        note_title(note, details.notes),
        review_outcome(note, details.notes, details.iterations),
        passed_on,
    ):
        if sentence:
            st.text(sentence)
    show_text(note.text, key)
    if kept_back:
        with st.expander("Parts of the review withheld from the coder"):
            for place, (name, text) in enumerate(kept_back.items()):
                st.text(name)
                show_text(text, f"{key}-kept-back-{place}")


def _show_failed_recalls(details: ExperimentDetails) -> None:
    """Warnings about recalls that failed."""
    for note in details.notes:
        if note.kind == "recall_failed":
            st.warning(
                "Memories or search results could not be read, so the experiment continued without them.", icon="⚠️"
            )
            st.text(note.text)


def _hashes(details: ExperimentDetails, step: Step) -> list[str]:
    """The hashes of all texts that the step shows, and of the prompts that its prompts are compared with."""
    calls = [*step.calls, *(before for call in step.calls if (before := _call_before(details, call)))]
    texts = [call.text for call in step.calls] + [message.text for call in calls for message in call.messages]
    return [sha256 for sha256 in (step.program, step.previous, *texts) if sha256]


def _show_program(step: Step, texts: _Texts) -> bool:
    if step.program:
        show_program(texts[step.program], f"program-{step.number}")
    return bool(step.program)


def _show_diff(workspace: Workspace, row: ExperimentRow, step: Step, texts: _Texts) -> bool:
    """The changes since the previous program, and since the program that the problem gives."""
    if not step.program:
        return False
    program, problem = texts[step.program], workspace.experiments.problem(row)
    if step.previous:
        st.caption("Changes from the previous program to this program")
        show_diff(
            texts[step.previous], program, f"diff-{step.number}", files=lambda: problem.public.files if problem else {}
        )
    if problem and (given := problem.public.given):
        st.caption(f"Changes from {GIVEN.get(problem.public.kind, 'the given code')} to this program")
        show_diff(given, program, f"given-diff-{step.number}", ("given", "this"))
    elif is_patch(program):
        st.caption("Changes that this patch makes to the given files")
        show_program(program, f"given-diff-{step.number}")
    return bool(step.previous or (problem and problem.public.given) or is_patch(program))


def _show_tests(workspace: Workspace, details: ExperimentDetails, step: Step, texts: _Texts) -> bool:
    """Every test; failed ones with expected and actual values. Held-out tests run after the end of the experiment."""
    gate = step.iteration
    scores = [score for score in details.scores if step.program and score.code == step.program]
    held_out = next((score.held_out for score in scores if score.held_out), None)
    if gate is None and held_out is None:
        return False
    is_changed = step.program is not None and is_patch(texts[step.program])
    tests = workspace.experiments.repository_tests(details.experiment) if is_changed else None
    if tests is not None:
        show_test_changes(tests, gate, held_out, details.iterations)
        return True
    if gate is not None:
        show_verdict("gate", gate)
    if held_out is not None:
        show_verdict("held-out", held_out)
    return True


def _show_prompts(details: ExperimentDetails, step: Step, texts: _Texts) -> bool:
    """The messages of each call; messages and first lines that the previous call of its role also had are folded."""
    for call in step.calls:
        before = _call_before(details, call)
        known = {before.text, *(message.text for message in before.messages)} if before else set()
        if old := [place for place, message in enumerate(call.messages) if message.text in known]:
            with st.expander(f"{numbered(len(old), 'message')} repeated from the previous call"):
                for place in old:
                    _show_message(call, place, texts)
        for place in range(len(call.messages)):
            if place not in old:
                _show_message(call, place, texts, before)
    return any(call.messages for call in step.calls)


def _call_before(details: ExperimentDetails, call: CallRow) -> CallRow | None:
    """The previous call of the same role, or the previous attempt of the call."""
    earlier = [other for other in details.calls if (other.ordinal, other.attempt) < (call.ordinal, call.attempt)]
    same = [other for other in earlier if (other.role, other.member) == (call.role, call.member)]
    return max(same, key=lambda other: (other.ordinal, other.attempt), default=None)


def _show_message(call: CallRow, place: int, texts: _Texts, before: CallRow | None = None) -> None:
    """A message; the first lines that a message of the call ``before`` also had are folded."""
    message, name = call.messages[place], f"prompt-{call.ordinal}-{call.attempt}-{place}"
    st.text(f"{_role(call)} · {message.role}")
    lines = texts[message.text].splitlines(keepends=True)
    others = [texts[other.text] for other in before.messages if other.role == message.role] if before else []
    beginnings = (commonprefix([lines, other.splitlines(keepends=True)]) for other in others)  # noqa: RUF071 (no paths)
    shared = max(map(len, beginnings), default=0)
    if FEWEST_SHARED <= shared < len(lines):
        with st.expander(f"{numbered(shared, 'line')} repeated from the previous call"):
            show_text("".join(lines[:shared]), f"{name}-shared")
        lines = lines[shared:]
    show_text("".join(lines), name)


def _show_answers(step: Step, texts: _Texts) -> bool:
    for call in step.calls:
        st.text(_role(call))
        if call.text is not None:
            show_text(texts[call.text], f"answer-{call.ordinal}-{call.attempt}")
        else:
            st.text(call.message or "No answer yet.")
    return bool(step.calls)


def _role(call: CallRow) -> str:
    return call.role + (f", attempt {call.attempt}" if call.attempt > 1 else "")


def _show_calls(step: Step) -> bool:
    if step.calls:
        st.dataframe(
            pd.DataFrame([_call_cells(call) for call in step.calls]), hide_index=True, alt="Calls of this step"
        )
    return bool(step.calls)


def _call_cells(call: CallRow) -> Mapping[str, object]:
    speed = None
    if call.output_tokens and call.seconds and not call.cached_from:
        speed = call.output_tokens / call.seconds
    return {
        "role": call.role,
        "model": call.model,
        "input tokens": count(call.input_tokens),
        "output tokens": count(call.output_tokens),
        "reasoning tokens": count(call.reasoning_tokens),
        "time": duration(call.seconds),
        "cost": money(call.cost_usd) + " (cached)" * bool(call.cached_from) if call.state == "finished" else "",
        "finish reason or error": call.finish or call.message,
        "attempt": call.attempt,
        "state": call.state,
        "HTTP status": call.status,
        "wait before the retry": duration(call.wait_seconds) if call.wait_seconds is not None else "",
        "tier": call.tier,
        "time to first token": duration(call.first_token_seconds),
        "tokens/s": None if speed is None else round(speed, 1),
        "source of the price": call.cost_source,
        "effort": call.sampling.effort or "",
        "requested temperature": call.sampling.temperature,
        "sent temperature": call.honoured.temperature if call.honoured else None,
    }


def choose_step(details: ExperimentDetails) -> Step:
    """The chosen step: the one in the address, else the newest with a program."""
    steps = {str(place): step for place, step in enumerate(details.steps, 1)}
    tried = [place for place, step in steps.items() if step.program]
    usual = (tried or list(steps))[-1]
    buttons = st.container(horizontal=True, gap="small", key="steps-by-key")
    shown = _visible(list(steps), st.query_params.get("step", usual))
    labels = {place: _label(steps[place]) for place in shown}
    chosen = choice_list("step", "Steps", labels, [_caption(steps[place]) for place in shown], usual)
    with buttons:
        _button("Up", "⬆️", KEYS[0], str(int(chosen) - 1), steps)
        _button("Down", "⬇️", KEYS[1], str(int(chosen) + 1), steps)
    if len(shown) < len(steps):
        st.caption(f"Only {len(shown)} of {len(steps)} steps are shown: the chosen step and the steps around it.")
    return steps[chosen]


def _visible(places: list[str], asked: str) -> list[str]:
    """The places around the asked one, or around the newest if there is no such place."""
    at = places.index(asked) if asked in places else len(places) - 1
    begin = max(0, min(at - MOST_STEPS // 2, len(places) - MOST_STEPS))
    return places[begin : begin + MOST_STEPS]


def _button(label: str, icon: str, key: str, to: str, steps: dict[str, Step]) -> None:
    name = f"step {label.lower()}"
    st.button(label, name, icon=icon, shortcut=key, disabled=to not in steps, on_click=keep, args=("step", to))


def _label(step: Step) -> str:
    mark, _ = step_marks(step)
    return f"{mark} {step_name(step)}".strip()


def _caption(step: Step) -> str:
    """Tests, time and cost."""
    _, tests = step_marks(step)
    parts = (f"{tests} tests" if tests else "", duration(step.seconds), _dollars(step))
    return " · ".join(part for part in parts if part)
