"""The text of a repository task: what a bug report would say of the first failing test, without the place of the fault.

Only one failing test is described, so that the others can be held out. A text by a model is refused if it contains
lines of the patch or names the function with the fault.
"""

from __future__ import annotations

import re

from koderz_core.forge.trials import Symptom, Trial
from koderz_core.patches import read_patch

_MOST_SOURCE_LINES = 30
_MOST_VALUE = 400  # characters
_LEAST_LINE = 8  # characters of a line of code that is not found everywhere
_PLACE = re.compile(r"^line \d+: ")
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
_RELEASE = re.compile(r"(.+)-(\d[^-]*)")
_TASK = (
    "Find the cause in the source code of the package and fix it. All tests must pass afterwards. Do not change tests "
    "or configuration."
)


def instruction(name: str, trial: Trial) -> str:
    """The text of a task by template."""
    count = len(trial.failing)
    tests = "1 test of the package fails" if count == 1 else f"{count} tests of the package fail"
    parts = [f"{_package(name)} has a defect: {tests}."]
    if trial.symptoms:
        parts += _described(trial.symptoms[0])
    return "\n\n".join([*parts, _TASK])


def _package(name: str) -> str:
    release = _RELEASE.fullmatch(name)
    return f"The package {release[1]} (version {release[2]})" if release else f"The package {name}"


def _described(symptom: Symptom) -> list[str]:
    """The name and the source of the test, and what differs from the expected result.

    A test whose name is in the text is a gate test (``datasets.own_repositories``).
    """
    source = _code(symptom.source)
    parts = [_named(symptom), *([f"It contains:\n\n```python\n{source}\n```"] if source else [])]
    if symptom.expected is not None and symptom.actual is not None:
        if assertion := _PLACE.sub("", symptom.message):
            parts.append(f"This assertion fails:\n\n{_block(assertion)}")
        parts.append(f"The expected value is:\n\n{_block(symptom.expected)}")
        parts.append(f"The actual value is:\n\n{_block(symptom.actual)}")
    elif symptom.message:
        parts.append(f"It fails with:\n\n{_block(symptom.message)}")
    return parts


def _named(symptom: Symptom) -> str:
    name = _fenced(symptom.test).replace("`", "'")
    return f"One of these tests is `{name}`."


def _code(source: str) -> str:
    lines = source.expandtabs().rstrip().splitlines()[:_MOST_SOURCE_LINES]
    indentation = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return _fenced("\n".join(line[indentation:] for line in lines))


def _block(text: str) -> str:
    """A text of at most ``_MOST_VALUE`` characters. Addresses differ in each run, so they are replaced."""
    return f"```\n{_ADDRESS.sub('at 0x...', _fenced(text))[:_MOST_VALUE]}\n```"


def _fenced(text: str) -> str:
    """A text that cannot end the block around it."""
    return text.replace("```", "'''").encode("utf-8", errors="replace").decode()


def request(name: str, trial: Trial) -> str:
    """The prompt for a model that writes the text of a task."""
    return (
        "Write the text of an issue for the maintainers of a Python package. Describe in at most 120 words what a user "
        "observes. Do not guess the cause, and name no file and no internal function. Write only the text of the "
        f"issue.\n\nThis is known:\n\n{instruction(name, trial)}"
    )


def fault_of_text(text: str, fault: str, function: str, known: str = "") -> str:
    """Why a text may not be the text of a task, "" if it may: it is empty, or it gives the fault away.

    ``known``: the text by template, which may name the function because a test does.
    """
    if not text.strip():
        return "it is empty"
    own = function.rpartition(".")[2]
    name = re.compile(rf"\b{re.escape(own)}\b")
    if not own.startswith("__") and name.search(text) and not name.search(known):
        return "it names the function with the fault"
    flat = " ".join(text.split())
    for change in read_patch(fault):
        if re.search(rf"(?<![\w/]){re.escape(change.path)}\b", text):
            return "it names the file with the fault"
        for hunk in change.hunks:
            changed = {*hunk.before} ^ {*hunk.after}
            lines = (" ".join(line.split()) for line in changed)
            if any(len(line) >= _LEAST_LINE and line in flat for line in lines):
                return "it contains a line of the patch"
    return ""


def with_task(text: str, trial: Trial) -> str:
    """The text of a model, with the name of the test that the model knew, and what to do."""
    known = f"The tests show it. {_named(trial.symptoms[0])}" if trial.symptoms else ""
    return "\n\n".join(filter(None, [_fenced(text.strip()), known, _TASK]))
