"""The guard against leaks: text learnt from a problem never reaches a prompt about the same problem or its twin.

Two problems count as one if they share their id (as HumanEval and HumanEval+ do, and MBPP and MBPP+), if their
functions have the same name, or if their texts are near-duplicates, that is if the sets of their runs of five words
have a resemblance of at least 0.2. Resemblance: Broder, "On the resemblance and containment of documents", 1997; runs
of five words: Lee et al. 2021, arXiv 2107.06499, appendix A. Deduplication uses 0.8; here a wrong refusal costs only a
hint, but a wrong admission spoils the result, so 0.2 is enough. Problems with the same meaning in other words and names
are recognised only by their programs: here by the text of the programs, and when examples are chosen by the behaviour
on the tests of the other problem.

Programs are compared by runs of five tokens, with one token for all names except keywords and builtins, and without
comments, docstrings and imports. Of the 293,222 ordered pairs of correct programs of HumanEval and MBPP+, this counts
2.5 % as twins. Among them are problems in other words and names, such as MBPP's 281 and 394, or 412 and 629.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from koderz_core.prompts.programs import Reader
from koderz_core.prompts.token_runs import PYTHON, runs, token_runs
from koderz_core.records import Problem, PublicProblem

WORDS = 5
TEXT_THRESHOLD = 0.2
SHARED_NAMES = frozenset({"taskfunc", "run", ""})
"""Function names that a dataset gives to all of its problems: BigCodeBench's ``task_func`` (arXiv 2406.15877), ``run``
for programs, and none for repositories."""
RESEMBLANCE_THRESHOLD = 0.2
"""Share of the runs of both programs that both contain (Jaccard)."""
CONTAINMENT_THRESHOLD = 0.5
"""Share of the runs of the solution that the program contains, which may be much longer."""
_HARNESS = PYTHON | {"candidate", "check"}


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A text for a prompt, all problems from which something in it was learnt, and the program in it, if any."""

    text: str
    sources: tuple[PublicProblem, ...]
    program: str = ""


def admissible(text: SourcedText, problem: Problem) -> bool:
    """Whether a prompt about this problem may contain the text."""
    return not (
        any(same_problem(source, problem.public) for source in text.sources)
        or containment(problem.public.prompt, text.text) >= TEXT_THRESHOLD
        or _mentions(problem, text.text)
        or gives_away(text.program, problem.canonical_solution)
    )


@lru_cache(65536)
def same_problem(one: PublicProblem, other: PublicProblem) -> bool:
    """Whether two problems count as one."""
    return (
        one.id.casefold() == other.id.casefold()
        or _plain_name(one.entry_point) == _plain_name(other.entry_point) not in SHARED_NAMES
        or resemblance(one.prompt, other.prompt) >= TEXT_THRESHOLD
    )


def twins(some: Sequence[PublicProblem], others: Sequence[PublicProblem]) -> Iterator[tuple[int, int]]:
    """The places of problems that count as one. Only problems with a common name, id or run of words are compared."""
    index = defaultdict[object, list[int]](list)
    for at, other in enumerate(others):
        for key in _keys(other):
            index[key].append(at)
    for at, problem in enumerate(some):
        near = sorted({place for key in _keys(problem) for place in index.get(key, ())})
        yield from ((at, place) for place in near if same_problem(problem, others[place]))


def _keys(problem: PublicProblem) -> set[object]:
    names = {problem.id.casefold(), _plain_name(problem.entry_point)} - {""}
    return {*names, *_word_runs(problem.prompt)}


def resemblance(one: str, other: str) -> float:
    """Share of the runs of five words in two texts that both contain, from 0 to 1 (Jaccard)."""
    first, second = _word_runs(one), _word_runs(other)
    either = len(first | second)
    return len(first & second) / either if either else 0.0


def containment(prompt: str, text: str) -> float:
    """Share of a prompt's runs of five words that the text contains, from 0 to 1; the text may be much longer."""
    runs = _word_runs(prompt)
    return len(runs & _word_runs(text)) / len(runs) if runs else 0.0


def named_in_tests(problem: Problem) -> frozenset[str]:
    """Names of three letters or more in a problem's tests, including its function.

    Names that Python or the tests themselves define are left out: they reveal nothing about the problem. The source of
    tests that consist of cases is the same for many problems. For a repository: the names of its failing tests.
    """
    if problem.repository:
        return frozenset(test.partition("[")[0].rpartition("::")[2] for test in problem.repository.failing)
    source = "" if problem.tests.cases else problem.tests.source
    program = Reader().parse(source)
    named = _undefined(program.tree) if program else set(re.findall(r"\w+", source))
    names = {problem.public.entry_point, *named} - _HARNESS
    return frozenset(name for name in names if len(name) > 2 and _plain_name(name) not in SHARED_NAMES)


def _mentions(problem: Problem, text: str) -> bool:
    """Whether a text contains a name from the problem's tests, or its function's name in any case and with any _."""
    words, function = set(re.findall(r"\w+", text)), _plain_name(problem.public.entry_point)
    by_function = function in map(_plain_name, words) and len(function) > 2 and function not in SHARED_NAMES
    return by_function or bool(named_in_tests(problem) & words)


def _undefined(tree: ast.Module) -> set[str]:
    """Names and attributes that are used but not defined."""
    used, defined = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
    return used - defined


def _plain_name(name: str) -> str:
    return name.casefold().replace("_", "")


@lru_cache(4096)
def _word_runs(text: str) -> frozenset[tuple[str, ...]]:
    return runs(re.findall(r"[^\W_]+", text.casefold()), WORDS)


def gives_away(program: str, solution: str) -> bool:
    """Whether the program resembles or contains much of the solution. True if one of them cannot be parsed."""
    runs, solution_runs = _token_runs(program), _token_runs(solution)
    if not runs or not solution_runs:
        return bool(program and solution)
    both, either = len(runs & solution_runs), len(runs | solution_runs)
    return both / either >= RESEMBLANCE_THRESHOLD or both / len(solution_runs) >= CONTAINMENT_THRESHOLD


def renamed_programs(name: str, source: PublicProblem, program: str) -> Iterator[str]:
    """A program that solves ``source``, once for each function that it defines, with that function as ``name``.

    The function that solves ``source`` comes first. A program that reads standard input comes first as it is, because
    it need not define a function. The programs contain the preamble of ``source``. Yields nothing if the program cannot
    be parsed.
    """
    parsed = Reader().parse(program)
    if parsed is None:
        return
    nodes = parsed.tree.body
    futures = [
        node.end_lineno or 0 for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    first, lines = max(futures, default=0), program.split("\n")  # such imports must come first
    whole = "\n".join([*lines[:first], source.preamble, *lines[first:]])
    defined = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    is_script = source.kind == "program"  # its entry point is defined by the sandbox
    if is_script:
        yield f"{whole}\n"
        if name == source.entry_point:
            return  # the tests run whole programs: another name for a function changes nothing
    for function in dict.fromkeys(defined if is_script else [source.entry_point, *defined]):
        yield f"{whole}\n\n{name} = {function}\n"


@lru_cache(4096)
def _token_runs(program: str) -> frozenset[tuple[str, ...]]:
    return token_runs(program, anonymous=True)
