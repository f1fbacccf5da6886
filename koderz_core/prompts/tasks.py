"""The texts of the workbench's tasks: a file with its failing tests, or a question with files."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from koderz_core.prompts.markdown import fenced
from koderz_core.prompts.names import after_definitions, is_main, without_examples
from koderz_core.prompts.programs import Program, Reader

_FAULTY = (
    "The file {file} below is wrong: it fails some of its tests. Find the fault and correct it. Keep all other code, "
    "names and comments as they are."
)
_CHANGE = "Change the file {file} below as described. Keep all other code, names and comments as they are."


def fix(file: str, given: str, report: str, instruction: str = "") -> str:
    """The task to fix a file. ``report``: what its tests say now, empty if it passes; ``instruction``: the person's."""
    parts = [(_FAULTY if report else _CHANGE).format(file=file)]
    parts += [instruction.strip()] if instruction.strip() else []
    parts += [f"{file}:\n{fenced(given.rstrip())}"]
    parts += [f"The tests of this file: {report}"] if report else ["The file passes its tests now, and must still."]
    return "\n\n".join(parts) + "\n"


def question(text: str, files: Iterable[tuple[str, str]]) -> str:
    """A question, followed by the files that it is about: names, of which several may be equal, and texts."""
    shown = (f"{name}:\n{fenced(content.rstrip(), language='')}" for name, content in files)
    return "\n\n".join([text.strip(), *shown]) + "\n"


def with_ending(given: str, code: str) -> str:
    """The new text of a file: a program from a reply, with the last lines of the given file and its final line end.

    Models often omit calls and ``__main__`` parts after the last definition. Those of a person's own file stay, unless
    the program has another ``__main__`` part.
    """
    reader = Reader()
    before, after = reader.parse(given), reader.parse(code)
    lost = _lost(before, after) if before and after else []
    end = "\n" if given.endswith("\n") else ""
    lines, last = code.rstrip("\n").split("\n"), after.tree.body[-1:] if after and lost else []
    at = last[0].lineno - 1 if any(map(is_main, last)) else len(lines)  # calls run before the ``__main__`` part
    parts = ["\n".join(lines[:at]).rstrip("\n"), *lost, "\n".join(lines[at:])]
    return "\n\n\n".join(parts).rstrip("\n") + end


def _lost(given: Program, code: Program) -> list[str]:
    """The sources of the calls and ``__main__`` parts at the end of the given file that the code lacks."""
    kept = without_examples(given, after_definitions(given)).tree.body
    present = {ast.dump(node) for node in code.tree.body}
    lines = given.source.split("\n")
    has_main = any(map(is_main, code.tree.body))
    missing = [
        node
        for node in given.tree.body
        if node not in kept and ast.dump(node) not in present and not (has_main and is_main(node))
    ]
    return ["\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in missing]
