"""The parts of the page Fix and ask: what a person enters, and the course and the result of a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from koderz_core.errors import DataError
from koderz_core.records.rows import ExperimentDetails
from koderz_core.report.formats import count, duration, money, plain
from koderz_core.workspace.workbench import Answer, Fix, Workbench, WrittenFile
from pages.ui.address import keep, matching_option, warn_of_missing
from pages.ui.edge import attempt, redrawn, show_failure
from pages.ui.frame import show_facts
from pages.ui.status import LIVE_TALL, show_live_text, show_scripted
from pages.ui.tables import outcome
from pages.ui.text import show_text
from pages.ui.transcript import choose_step, show_step

FIX = "fix"
TASKS = {FIX: "Fix a file", "ask": "Ask a question"}
WAYS = {"path": "Paths", "upload": "Upload", "text": "Text"}
EVERY_SECONDS = 1.0
ENTERED, WRITTEN = "entered tasks", "written task"  # in the session
EXAMPLE = "def double(number):\n    return number + 2\n"
EXAMPLE_TESTS = "assert double(2) == 4\nassert double(5) == 10\n"
ABOUT_PATHS = (
    "A path on the machine that runs koderz. koderz can write the fixed program to your file only if you give the path "
    "of the file."
)
USED_UP = (
    "The budget of the task is used up, and the task has no result. Finished calls are kept. To continue, start the "
    "same task with a larger budget."
)


@dataclass(frozen=True, slots=True)
class Entered:
    """What a person has entered: files as texts or as paths. ``question`` None: a file to fix, then its tests."""

    files: tuple[WrittenFile, ...] = ()
    paths: tuple[str, ...] = ()
    instruction: str = ""
    question: str | None = None

    def read(self, bench: Workbench) -> tuple[WrittenFile, ...]:
        """The files. Raises DataError for a missing or unreadable one."""
        if not all(self.paths) or (self.question is None and not (self.files or self.paths)):
            raise DataError("A file is missing. Give the Python file and the file with its tests.")
        return self.files or tuple(bench.read(Path(path)) for path in self.paths)


def choose_files() -> Entered:
    """The file to fix, its tests and the instruction."""
    way = st.segmented_control(
        "Files", list(WAYS), default="path", format_func=WAYS.__getitem__, required=True, key="way of files"
    )
    files, paths = tuple[WrittenFile, ...](), tuple[str, ...]()
    if way == "path":
        file = st.text_input("Python file", key="path of file", placeholder="~/project/module.py", help=ABOUT_PATHS)
        tests = st.text_input("Tests", key="path of tests", placeholder="~/project/test_module.py")
        paths = (str(file).strip(), str(tests).strip())
    elif way == "upload":
        uploads = [
            st.file_uploader(label, type="py", key=f"upload {label}")
            for label in ("Python file", "Tests (pytest, unittest)")
        ]
        files = _uploaded([upload for upload in uploads if upload]) if all(uploads) else ()
    else:
        file = st.text_input("Name of the file", "module.py", key="name of file")
        text = st.text_area("Program", EXAMPLE, key="text of file", height=220)
        tests = st.text_area("Tests", EXAMPLE_TESTS, key="text of tests", height=120)
        files = (WrittenFile(str(file).strip(), str(text)), WrittenFile("the field Tests", str(tests)))
    instruction = st.text_input(
        "Instruction (optional)", key="instruction", placeholder="What to change, or a hint about the fault"
    )
    return Entered(files, paths, str(instruction))


def choose_question() -> Entered:
    """The question, and files that it is about."""
    text = st.text_area("Question", key="question", height=160, placeholder="Which data structure fits …?")
    uploads = st.file_uploader("Files that the question is about (optional)", key="files", accept_multiple_files=True)
    return Entered(_uploaded(uploads), question=str(text))


def _uploaded(uploads: Sequence[object]) -> tuple[WrittenFile, ...]:
    """The texts of uploaded files, with a replacement in place of bytes that are not UTF-8."""
    contents = [(getattr(it, "name", ""), getattr(it, "getvalue", bytes)()) for it in uploads]
    return tuple(
        WrittenFile(name.rpartition("/")[2], content.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
        for name, content in contents
    )


def remember(task: str, entered: Entered, remarks: Sequence[str]) -> None:
    """Keep the paths of a task, to which its result may be written, and the remarks on its file."""
    st.session_state.setdefault(ENTERED, {})[task] = (entered, tuple(remarks))


def _remembered(task: str) -> tuple[Entered, tuple[str, ...]]:
    known: tuple[Entered, tuple[str, ...]] = st.session_state.get(ENTERED, {}).get(task, (Entered(), ()))
    return known


def choose_task(bench: Workbench) -> str:
    """The id of the task in the address, which can be changed to an earlier one; empty if there is none."""
    known = bench.history()
    asked = st.query_params.get("task", "")
    name = matching_option(asked, list(known))
    if asked and name not in known:
        warn_of_missing("task")
        name = ""
    if known:
        options = ["", *known]
        chosen = st.selectbox(
            "Recorded tasks",
            options,
            options.index(name),
            lambda task: plain(f"{known[task]} · {task}") if task else "none",
            key=f"task {name}",
        )
        if chosen != name:
            keep("task", chosen or None)
            st.rerun()
    return name


def show_task(bench: Workbench, task: str) -> None:
    """The course of a task, redrawn until it ends, and then its result."""
    moving = bench.inside.results.benchmark(task).under_way
    for remark in _remembered(task)[1]:
        st.text(plain(remark))

    def draw() -> None:
        if moving and not bench.inside.results.benchmark(task).under_way:
            st.rerun()
        details = bench.details(task)
        _show_figures(details)
        if moving:
            _show_running(bench, details)
        elif details.experiment.outcome in ("solved", "unsolved"):
            _show_result(bench, task)
        else:
            _show_without_result(bench, details)
        if details.steps:
            st.header("Steps of the task")
            _show_course(bench, details)

    redrawn("task course", draw, EVERY_SECONDS if moving else None)


def _show_figures(details: ExperimentDetails) -> None:
    row = details.experiment
    show_scripted(row)
    question = row.dataset.startswith("ask-")
    facts = {"calls": count(row.calls), "time": duration(row.seconds), "cost": money(row.cost_usd)}
    show_facts(facts if question else {"result": outcome(row), "iterations": count(row.iterations), **facts})
    st.text(f"{row.problem} · {row.label}")


def _show_running(bench: Workbench, details: ExperimentDetails) -> None:
    row, place = details.experiment, f"stopping {details.experiment.benchmark}"
    if bench.inside.runs.is_here(row.benchmark):
        show_live_text(bench.inside, row, LIVE_TALL, "live-text-of-task")
        st.button(
            "Stop",
            "stop task",
            icon="⏹️",
            on_click=lambda: attempt(place, lambda: bench.inside.runs.stop(row.benchmark)),
        )
        show_failure(place)


def _show_without_result(bench: Workbench, details: ExperimentDetails) -> None:
    """A task that was stopped or ended with an error can continue; with a larger budget, only the form starts it."""
    row = details.experiment
    if row.reason == "budget":
        st.warning(USED_UP, icon="⏹️")
        return
    if fault := row.error or bench.inside.runs.trouble(row.benchmark):
        st.error("The task ended with an error that the model did not cause.", icon="⚠️")
        show_text(fault, "task-error")
    else:
        st.warning("The task was stopped before it had a result.", icon="⏹️")
    if st.button("Continue", "continue task", icon="▶️", help="Finished calls are not sent again."):
        bench.start(bench.inside.runs.recorded(row.benchmark))
        st.rerun()


def _show_result(bench: Workbench, task: str) -> None:
    result = bench.result(task)
    if isinstance(result, Answer):
        st.header("Answer")
        if result.text is None:
            st.info("No model gave an answer.", icon="🕳️")
        else:
            show_text(result.text, "answer-of-task")
        return
    if result.passed:
        st.success("All tests pass.", icon="✅")
    else:
        st.warning("No program passes all tests.", icon="✏️")
    st.text(plain(result.sentence))
    if result.changed and result.code is not None:
        st.header("Changes")
        show_text(result.diff, "diff-of-task", "diff")
        with st.container(horizontal=True, vertical_alignment="center"):
            data = result.code.encode(errors="replace")
            name = result.file if result.file.isascii() else "program.py"
            st.download_button(
                "Download", data, name, "text/x-python", key="download task", icon="⬇️", on_click="ignore"
            )
            _offer_writing(bench, task, result)


def _offer_writing(bench: Workbench, task: str, result: Fix) -> None:
    """A button that writes a fixed file in place of the given one, if this session knows its path."""
    entered, place = _remembered(task)[0], f"writing {task}"
    if not (entered.paths and result.passed):
        return

    def write() -> None:
        now = bench.read(Path(entered.paths[0]))
        if now.text != result.given:
            raise DataError(f"{now.name} has changed since the task started, so nothing was written.")
        assert result.code is not None
        st.session_state[WRITTEN] = (task, str(bench.write(now, result.code)))

    st.button("Write to the file", "write task", icon="💾", on_click=lambda: attempt(place, write))
    st.text(plain(entered.paths[0]))
    show_failure(place)
    if st.session_state.get(WRITTEN, ("", ""))[0] == task:
        st.text("The file has been written.")


def _show_course(bench: Workbench, details: ExperimentDetails) -> None:
    left, right = st.columns([1, 2], gap="medium")
    with left:
        step = choose_step(details)
    with right:
        show_step(bench.inside, details, step)
