"""The variant ``renamed`` of a problem: its function and the function's parameters have other names.

The name of the function becomes ``solve_`` and its words in reverse order: ``has_close_elements`` becomes
``solve_elements_close_has``. A parameter of one letter becomes another letter. Any other parameter gets the prefix
``given_``, so the text of the problem, which often uses the name as a word, keeps its meaning. The text is changed only
where a name is certainly meant: outside of quotes, and for a plain word only in a call. A one-letter parameter that may
be an English word in the text (``a``, ``i``) keeps its name.
"""

from __future__ import annotations

import ast
import io
import re
import string
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from koderz_core.python_parser import parse
from koderz_core.records import LeftOut, Problem

PREFIX = "solve_"
GIVEN = "given_"
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_QUOTED = re.compile(r"(?<!\w)(\"[^\"\n]*\"|'[^'\n]*')(?!\w)")
_ENGLISH = frozenset("aAiI")
_Documented = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_LETTER_BEFORE = r"(?<![\w\\'\N{RIGHT SINGLE QUOTATION MARK}.])"


def renamed(problem: Problem) -> Problem | LeftOut:
    """The problem with other names, for tests that refer to the function by its name or as ``candidate``."""
    public = problem.public
    try:
        names = _names(problem)
        function = replace(names, parameters={})
        prompt, preamble = names.in_source(public.prompt), function.in_source(public.preamble)
        # The tests define a function ``check`` themselves, and then call a function of this name ``candidate``.
        tests = problem.tests.source if names.old == "check" else function.in_source(problem.tests.source)
        return replace(
            problem,
            public=replace(public, prompt=prompt, entry_point=names.new, preamble=preamble),
            tests=replace(problem.tests, source=tests),
            canonical_solution=names.in_source(problem.canonical_solution),
            variant="renamed",
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        reason = f"the names of its function and parameters cannot be changed ({type(error).__name__})"
        return LeftOut(problem.id, reason)


def docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    """The docstrings of a module and of its functions and classes, as nodes."""
    for node in ast.walk(tree):
        match node.body if isinstance(node, _Documented) else ():
            case [ast.Expr(value=ast.Constant(value=str()) as text), *_]:
                yield text


def parameters_of(tree: ast.Module, function: str) -> tuple[str, ...]:
    """The parameters of a function of a module; none if the module does not define it."""
    node = _definition(tree, function)
    arguments = node.args if node else None
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arguments else []
    return tuple(argument.arg for argument in found)


def _definition(tree: ast.Module, function: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function:
            return node
    return None


def _names(problem: Problem) -> _Names:
    """The new names. Raises ValueError if the solution uses one of them already, and as ``parse``."""
    old, solution = problem.public.entry_point, problem.canonical_solution
    tree = parse(solution)
    if _definition(tree, old) is None:
        raise ValueError("the solution does not define the function")
    text = "\n".join(str(ast.literal_eval(node)) for node in docstrings(tree))
    taken = set(re.findall(r"\w+", solution))
    parameters: dict[str, str] = {}
    for name in parameters_of(tree, old):
        if new := _parameter(name, text, taken):
            parameters[name] = new
            taken.add(new)
    new = PREFIX + "_".join(word.lower() for word in reversed(_WORDS.findall(old)))
    if new in taken or not new.isidentifier():
        raise ValueError("the new name is in use")
    return _Names(old, new, parameters)


def _parameter(name: str, text: str, taken: set[str]) -> str:
    """The new name of a parameter, "" if it keeps its own."""
    if len(name) > 1:
        return "" if GIVEN + name in taken else GIVEN + name
    if name in _ENGLISH and re.search(rf"(?<![\w']){name}(?!\w)", text):
        return ""
    letters = string.ascii_lowercase if name.islower() else string.ascii_uppercase
    place = letters.find(name) + 1
    free = (letter for letter in letters[place:] + letters[:place] if letter not in taken | _ENGLISH | {"l", "O"})
    return next(free, "")


@dataclass(frozen=True, slots=True)
class _Names:
    """The old and the new name of the function, and those of its parameters."""

    old: str
    new: str
    parameters: Mapping[str, str]

    def in_source(self, source: str) -> str:
        """A source with the new names, in code, docstrings and comments. Raises ValueError, and as ``parse``."""
        content = source.encode()
        starts = [0, *(place + 1 for place, byte in enumerate(content) if byte == ord("\n"))]
        edits = {
            starts[line - 1] + column: (old.encode(), new.encode()) for line, column, old, new in self._edits(source)
        }
        for place in sorted(edits, reverse=True):
            old, new = edits[place]
            if content[place : place + len(old)] != old:  # such as a name in an f-string of an older Python
                raise ValueError("a name could not be located in the source")
            content = content[:place] + new + content[place + len(old) :]
        return content.decode()

    def _edits(self, source: str) -> Iterator[tuple[int, int, str, str]]:
        """Line (from 1), column in bytes, old and new text of every change."""
        if not source.strip():
            return
        tree = parse(source)
        own = _definition(tree, self.old)
        inside = set(map(id, ast.walk(own))) if own else set[int]()
        for node in ast.walk(tree):
            yield from self._in_code(node, self.parameters if id(node) in inside else {})
        lines = source.split("\n")
        if own:
            begin = lines[own.lineno - 1].index("def", own.col_offset) + 3
            column = lines[own.lineno - 1].index(self.old, begin)
            yield own.lineno, len(lines[own.lineno - 1][:column].encode()), self.old, self.new
        for text in docstrings(tree):
            segment = ast.get_source_segment(source, text) or ""
            changed = self._in_text(segment, self.parameters if id(text) in inside else {})
            yield text.lineno, text.col_offset, segment, changed
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                before = len(lines[line - 1][:column].encode())
                yield line, before, token.string, self._in_text(token.string, {})

    def _in_code(self, node: ast.AST, parameters: Mapping[str, str]) -> Iterator[tuple[int, int, str, str]]:
        match node:
            case ast.Name(id=name) if name == self.old:
                yield node.lineno, node.col_offset, name, self.new
            case ast.Name(id=name) | ast.arg(arg=name) if name in parameters:
                yield node.lineno, node.col_offset, name, parameters[name]
            case ast.Call(func=ast.Name(id=name), keywords=keywords) if name == self.old:
                for word in keywords:
                    if word.arg in parameters:
                        yield word.lineno, word.col_offset, word.arg or "", parameters[word.arg or ""]

    def _in_text(self, text: str, parameters: Mapping[str, str]) -> str:
        """A docstring or comment with the new names, where they are certainly meant."""
        call = r"(?=\s?\()" if self.old.isalpha() else r"(?!\w)"
        text = re.sub(rf"(?<![\w.]){re.escape(self.old)}{call}", self.new, text)
        for old, new in parameters.items():
            if len(old) == 1 or not old.isalpha():
                word = re.compile(rf"{_LETTER_BEFORE}{re.escape(old)}(?!\w)")
                text = "".join(
                    part if place % 2 else word.sub(new, part) for place, part in enumerate(_QUOTED.split(text))
                )
        return text
