"""The texts among an experiment's files that koderz itself composes: prompts, results, guidance.

What others wrote stands in them indented, or below a line that says how long it is, so that it cannot pass for ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import indent

from koderz_core.export.formats import SHARED, duration, isolation, money, plain
from koderz_core.export.worded import noted
from koderz_core.records import Sampling, TestFailure, Verdict
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import CallRow, ExperimentDetails, IterationRow, Step

MARGIN = "    "
TOLD_APART = ("checkpoint_reviewed", "turn_spoken", "consensus_reached")
"""Notes that have files of their own."""
HELD_OUT = "held-out tests, which ran when the experiment had ended and which no model saw"


def prompt(step: Step, texts: Mapping[str, str]) -> str:
    """Every call of a step with the messages that were sent, failed attempts too."""
    return "\n".join(line for call in step.calls for line in (*_head(call), *_messages(call, texts)))


def result(details: ExperimentDetails, step: Step) -> str:
    """What the tests said of a step's program: the gate tests, then those held out, if they have run by now."""
    row = details.experiment
    lines = [_line(f"{row.id} · {row.problem} · {row.label} · {step.kind} {step.number}")]
    lines += [_line(noted(note, details.notes)) for note in details.notes if note.kind not in TOLD_APART]
    score = next((one for one in details.scores if step.program and one.code == step.program), None)
    gate = step.iteration or (score.gate if score else None)
    held_out = score.held_out if score else None
    if step.program is None:
        lines.append("no program was found in the reply" + (f" ({row.failure})" if step.kind == "answer" else ""))
    if gate:
        lines += ["", *_verdict("gate tests", gate)]
    if held_out:
        lines += ["", *_verdict(HELD_OUT, held_out)]
    return "\n".join([*lines, ""])


def guidance(details: ExperimentDetails, note: NoteRow, replies: Sequence[str]) -> str:
    """Why a review was due, what of it was passed on, its sections, and the whole of it."""
    parts = [("what went into the next prompts", note.text)]
    for name, text in note.sections.items():
        parts.append((f"section {name}, {'passed on' if name in note.passed_on else 'not passed on'}", text))
    parts += [("the whole review", reply) for reply in replies]
    head = (_line(noted(note, details.notes)), "")
    return "\n".join([*head, *(line for title, text in parts for line in _part(title, text))])


def _head(call: CallRow) -> Iterator[str]:
    taken = f", {_temperature(call.honoured)} taken" if call.honoured else ""
    temperature = f"temperature {_temperature(call.sampling)} asked{taken}"
    came_to = f"ended with {call.finish}" if call.state == "finished" else call.state
    came_to = "no answer yet" if call.state == "started" else came_to
    spent = f" · {duration(call.seconds)} · {money(call.cost_usd)}" if call.state == "finished" else ""
    if call.state in ("failed", "interrupted") and call.cost_usd is not None:
        spent = f" · {money(call.cost_usd)}"
    attempt = f", attempt {call.attempt}" if call.attempt > 1 else ""
    yield _line(f"=== {call.role}{attempt} · {call.model} · {temperature} · {came_to}{spent}")
    if call.message:
        yield _margin(call.message)


def _temperature(sampling: Sampling) -> str:
    return "default" if sampling.temperature is None else str(sampling.temperature)


def _messages(call: CallRow, texts: Mapping[str, str]) -> Iterator[str]:
    for place, message in enumerate(call.messages, 1):
        yield from _part(f"message {place} of {len(call.messages)}, {message.role}", texts[message.text])


def _part(title: str, text: str) -> tuple[str, ...]:
    return f"--- {_line(title)} ({len(text)} characters)", plain(text), ""


def _verdict(kind: str, verdict: IterationRow | Verdict) -> Iterator[str]:
    yield f"{'passed' if verdict.passed else 'not passed'}: {verdict.tests_passed} of {verdict.tests_total} {kind}"
    yield _line(f"{duration(verdict.seconds)} · isolation {isolation(verdict.isolation, '')}")
    if verdict.shared:
        yield SHARED
    if verdict.error:
        yield f"error class: {verdict.error}"
    if verdict.message:
        yield f"message:\n{_margin(verdict.message)}"
    if verdict.marks:
        yield _line(f"tests in order (P passed, F failed, - not reached): {verdict.marks}")
    for failure in verdict.failures:
        yield from _failure(failure, verdict.test_seconds)
    known = {failure.index for failure in verdict.failures}
    if more := [place for place, mark in enumerate(verdict.marks) if mark == "F" and place not in known]:
        yield f"\nfailed too, and no more of it is kept: test {_numbers(more)}"


def _failure(failure: TestFailure, seconds: Sequence[float]) -> Iterator[str]:
    took = f", {duration(seconds[failure.index])}" if failure.index < len(seconds) else ""
    yield f"\ntest {failure.index + 1} failed{took}"
    told = {
        "call": failure.source,
        "returned": failure.actual,
        "expected": failure.expected,
        "message": failure.message,
    }
    yield from (f"{title}:\n{_margin(text)}" for title, text in told.items() if text)


def _line(text: str) -> str:
    return plain(" ".join(text.split()))


def _numbers(places: Iterable[int]) -> str:
    return ", ".join(str(place + 1) for place in places)


def _margin(text: str) -> str:
    return indent(plain(text), MARGIN, lambda _: True)
