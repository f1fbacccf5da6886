"""What a prompt shows of a repository: a list of its files, and the parts that the task is probably about.

Everything together takes at most a number of tokens, which leaves room for an answer in a context of 4,096 tokens. The
code is shown without line numbers, so that it can be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from koderz_core.prompts.localisation import Part, parts_of, ranked
from koderz_core.prompts.markdown import BYTES_PER_TOKEN, fenced, inline_code, one_line
from koderz_core.records import PublicProblem

SHOWN_TOKENS = 2000
"""The default limit: as much as a program and a third of it in the prompts for other kinds."""
_LIST_SHARE = 0.2  # of the limit, for the list of files
_MOST_FILES = 200  # in the list
_HEADING_BYTES = 100
_LONGEST_PATH = 200


def repository_text(problem: PublicProblem, hints: str = "", tokens: int = SHOWN_TOKENS) -> str:
    """The files of a problem, as far as ``tokens`` allow. ``hints``: test results, which tell more of the places."""
    room = tokens * BYTES_PER_TOKEN
    editable = {path: problem.files[path] for path in problem.editable if path in problem.files}
    order = ranked(editable, f"{problem.prompt}\n{hints}")
    chosen = _chosen(order, int(room * (1 - _LIST_SHARE)))
    listed = _listed(problem, order, chosen, int(room * _LIST_SHARE))
    return "\n\n".join(
        [f"Files (you may change those with *):\n{fenced(listed, language='')}", *_shown(chosen, editable)]
    )


def _chosen(order: Sequence[Part], room: int) -> list[Part]:
    """The best parts that fit; if not even the best one does, its beginning."""
    chosen = []
    for part in order:
        needed = len(part.text.encode("utf-8", "replace")) + _HEADING_BYTES
        if needed <= room:
            chosen.append(part)
            room -= needed
    if not chosen and order:
        return [_beginning(order[0], room)]
    return sorted(chosen, key=lambda part: (part.path, part.first))


def _beginning(part: Part, room: int) -> Part:
    lines = part.text.split("\n")
    while lines and len("\n".join(lines).encode("utf-8", "replace")) > room - _HEADING_BYTES:
        lines = lines[: len(lines) // 2]
    return Part(part.path, part.first, part.first + len(lines) - 1, part.names, "\n".join(lines))


def _shown(chosen: Sequence[Part], files: Mapping[str, str]) -> Iterator[str]:
    """The chosen parts, adjacent ones in one block."""
    runs: list[list[Part]] = []
    for part in chosen:
        if runs and runs[-1][-1].path == part.path and runs[-1][-1].last + 1 == part.first:
            runs[-1].append(part)
        else:
            runs.append([part])
    for run in runs:
        first, last, path = run[0].first, run[-1].last, run[0].path
        number = _lines(files[path])
        where = "" if (first, last) == (1, number) else f", lines {first} to {last} of {number}"
        within = f", in class {run[0].names[0]}" if len(run[0].names) > 1 else ""
        text = "\n".join(part.text for part in run).strip("\n")
        yield f"{inline_code(_name(path))}{where}{within}:\n{fenced(text, language=_language(path))}"


def _listed(problem: PublicProblem, order: Sequence[Part], chosen: Sequence[Part], room: int) -> str:
    """One line per file: those that may be changed first, the likeliest one first, and how much of each is shown."""
    likely = dict.fromkeys(part.path for part in (*chosen, *order))
    names = [*likely, *(path for path in sorted(problem.files) if path not in likely)]
    shown = {path: sum(part.last - part.first + 1 for part in chosen if part.path == path) for path in names}
    lines = [_line(problem, path, shown[path]) for path in names[:_MOST_FILES]]
    sizes = [len(line.encode("utf-8", "replace")) + 1 for line in lines]
    fitting = sum(sum(sizes[: number + 1]) <= room for number in range(len(lines)))
    lines, hidden = lines[:fitting], len(names) - fitting
    room -= sum(sizes[:fitting])
    for path in [path for path in likely if shown[path] < _lines(problem.files[path])][: 1 if fitting else 0]:
        outline = _outline(path, problem.files[path], room - 8)
        lines.insert(names.index(path) + 1, f"    {outline}") if outline else None
    return "\n".join([*lines, *([f"  and {hidden} more files"] if hidden else [])])


def _line(problem: PublicProblem, path: str, shown: int) -> str:
    text, mark = problem.files[path], "*" if path in problem.editable else " "
    what = "" if mark == " " else ", not shown" if not shown else ", shown in part" if shown < _lines(text) else ""
    number = _lines(text)
    return f"{mark} {_name(path)} ({number} line{'s' * (number != 1)}{what})"


def _outline(path: str, text: str, room: int) -> str:
    """The classes and functions of a file with their lines, as far as there is room."""
    found = [f"{'.'.join(part.names)} {part.first}-{part.last}" for part in parts_of(path, text) if part.names]
    while found and len("; ".join(found).encode("utf-8", "replace")) > room:
        found = found[: len(found) * 3 // 4]
    return "; ".join(found)


def _lines(text: str) -> int:
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def _name(path: str) -> str:
    return one_line(path, _LONGEST_PATH)


def _language(path: str) -> str:
    return "python" if path.endswith((".py", ".pyi")) else ""
