"""Problems that somebody typed: tests alone, to grade a program by, or whole ones that are kept as a dataset."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from koderz_core.datasets.humaneval import Row
from koderz_core.datasets.typed import dataset_of
from koderz_core.errors import DataError
from koderz_core.grading.testsets import check_tests
from koderz_core.grading.typed_tests import calls_of, check_of, check_source, first_called, read_tests, require_use
from koderz_core.parsing import parse
from koderz_core.prompts.programs import Program, Reader, indented, unindented
from koderz_core.records import Problem, PublicProblem, TestSet, Verdict

SIGNATURE = "Write its signature into the prompt, such as `def add(a, b):`."
MEND = "Mend it, and put # before what is no code."

_DEF = r"(?:async +)?def +\w+ *\("
_CODE = rf"{_DEF}|class +\w+ *[(:]|import +[\w.]+(?: +as +\w+)? *(?:[,;#]|$)|from +[\w.]+ +import\b|@\w"
_CODE_LINE = re.compile(rf"^(?:{_CODE})", re.MULTILINE)
_DEF_LINE = re.compile(rf"^{_DEF}", re.MULTILINE)
_CODE_FIRST = re.compile(rf"\s*(?:#.*\n\s*)*(?:{_CODE}|\w+ *=[^=])", re.MULTILINE)


def problem_of(tests: str, name: str = "typed/0") -> Problem:
    """A problem whose tests are plain asserts, or source that defines ``check(candidate)``.

    Plain asserts call the program's function by its name: the first function they call that is neither Python's nor
    their own. Raises DataError if there is no test in them, or one that no program could reach.
    """
    read = read_tests(tests)
    entry_point = "candidate" if check_of(read) else first_called(read)
    return Problem(PublicProblem(name, "", entry_point), TestSet(check_source(read)), "")


def typed_row(prompt: str, tests: str, solution: str = "") -> Row:
    """A whole problem in HumanEval's form, with no ``task_id`` yet.

    ``prompt``: code whose last function is the one to write, or free text; then the function is the first that the
    asserts call. ``tests``: as for ``problem_of``. ``solution``: a whole program, the function's body, or nothing.
    Raises DataError, which names the field and what to write there.
    """
    prompt, tests, solution = (
        _clean(*field) for field in (("prompt", prompt), ("tests", tests), ("solution", solution))
    )
    if not prompt.strip():
        raise DataError(f"The prompt is empty. Say what the function does. {SIGNATURE}")
    read = read_tests(tests)
    written = _written(prompt)
    asked = written or _described(prompt, read)
    entry_point = _entry_point(asked)
    require_use(read, entry_point)
    source = check_source(read)
    check_tests(Problem(PublicProblem("this problem", asked.source, entry_point), TestSet(source), ""))
    completion = _completion(asked, entry_point, solution, body_fits=written is not None)
    return Row("", asked.source, entry_point, completion, source)


def require_solved(row: Row, grade: Callable[[str, Problem], Verdict]) -> Row:
    """The row, whose solution passes its tests if it has one. Raises DataError if not: one of the two is wrong."""
    for problem in dataset_of(row).problems if row.canonical_solution else ():
        verdict = grade(problem.canonical_solution, problem)
        if not verdict.passed:
            raise DataError(f"The solution fails the tests: {verdict.message}. Mend the one or the other.")
    return row


def _clean(field: str, text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise DataError(f"The {field} holds characters that are no text. Paste it anew as plain text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Prompt and solution


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _entry_point(asked: Program) -> str:
    """The name of the last function. Raises DataError if none of that kind could be tested."""
    last = _functions(asked.tree)[-1]
    if isinstance(last, ast.AsyncFunctionDef):
        raise DataError(f"The prompt's function {last.name} is async, and nothing would await it. Write a plain def.")
    if last.name == "check":
        raise DataError("The prompt's function is called check, as the tests are. Give it another name in the prompt.")
    try:
        compile(asked.tree, "<prompt>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The prompt is not Python that can be run: {error}. {MEND}") from error
    return last.name


def _written(prompt: str) -> Program | None:
    """A prompt that is code, also below prose; a signature without a body gets one. None: there is no code in it.

    Raises DataError if there is: what somebody wrote as code is not made a comment.
    """
    begin = None if _CODE_FIRST.match(prompt) else _CODE_LINE.search(prompt)
    start = begin.start() if begin else 0
    reader = Reader()
    for code_from in sorted({0, start}):
        before, code = _as_comment(prompt[:code_from]), prompt[code_from:]
        for whole in (code, f"{code.rstrip()}\n    ...\n"):
            found = reader.parse(f"{before}{whole}")
            if found and _functions(found.tree):
                return found
    if _DEF_LINE.search(prompt) or _CODE_FIRST.match(prompt):
        raise _fault(prompt, start)
    return None


def _fault(prompt: str, start: int) -> DataError:
    """Why the code from ``start`` on cannot be a prompt."""
    try:
        parse(prompt[start:])
    except SyntaxError as error:
        line = prompt.count("\n", 0, start) + (error.lineno or 0)
        return DataError(f"Line {line} of the prompt is not Python: {error.msg}. {MEND}")
    except (ValueError, RecursionError, MemoryError) as error:
        return DataError(f"The prompt is not Python: {error}. {MEND}")
    return DataError(f"The prompt holds code, but no function that can be read. {SIGNATURE}")


def _described(prompt: str, tests: Program) -> Program:
    """Free text as a comment over the function that the asserts call: a model must be told its name."""
    if check_of(tests):
        raise DataError(f"The prompt defines no function, and check(candidate) does not name it. {SIGNATURE}")
    name = first_called(tests)
    shapes = {_parameters(call) for call in calls_of(tests, name)}
    parameters = shapes.pop() if len(shapes) == 1 else "*args, **kwargs"
    found = Reader().parse(f"{_as_comment(prompt)}def {name}({parameters}):\n    ...\n")
    if found is None:
        raise DataError(f"The prompt cannot be read. {SIGNATURE}")
    return found


def _as_comment(text: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in text.strip().splitlines())


def _parameters(call: ast.Call) -> str:
    names = [*(f"arg{number}" for number, _ in enumerate(call.args, 1)), *(str(one.arg) for one in call.keywords)]
    unpacked = any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
    return "*args, **kwargs" if unpacked or len(set(names)) < len(names) else ", ".join(names)


def _completion(asked: Program, entry_point: str, solution: str, *, body_fits: bool) -> str:
    """What follows the prompt to make a whole program; a body fits only parameters whose names somebody chose."""
    if not solution.strip():
        return ""
    reader, gap = Reader(), "" if asked.source.endswith("\n") else "\n"
    whole = reader.parse(solution)
    if whole and any(one.name == entry_point for one in _functions(whole.tree)):
        return f"{gap}\n\n{solution.strip()}\n"
    body = reader.parse(unindented(solution))
    lead, margin = _opening(asked)
    completion = f"{gap}{lead}{(indented(body, margin) if body else solution).rstrip()}\n"
    if not body_fits or reader.parse(asked.source + completion) is None:
        raise DataError(
            f"The solution is not Python, or not of {entry_point}. Write the whole function, or leave it out."
        )
    return completion


def _opening(asked: Program) -> tuple[str, int]:
    """What stands before a body that is added to the prompt, and how far to the right the body goes.

    A stub of one line, as ``def add(a, b): ...``, can have nothing added: its signature is written once more.
    """
    last = _functions(asked.tree)[-1]
    lines, first = asked.source.split("\n"), last.body[0]
    before = lines[first.lineno - 1].encode()[: first.col_offset].decode()
    if not before.strip():
        return "", first.col_offset
    start = min([last.lineno, *(decorator.lineno for decorator in last.decorator_list)])
    signature = [*lines[start - 1 : first.lineno - 1], before.rstrip()]
    return "\n\n" + "\n".join(signature) + "\n", last.col_offset + 4
