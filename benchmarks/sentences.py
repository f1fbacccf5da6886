"""Exports every sentence of koderz that a user can read: strings of the code, README.md and the guides.

Run: ``python benchmarks/sentences.py > sentences.txt``. Each line is ``file:line``, a tab, and the text; ``{…}`` stands
for a value. ``--sample 20 --seed 1`` prints a random sample for judging, ``--forbidden`` only sentences with a phrase
that docs/style.md forbids.

Not included: texts whose wording may not change, because models read them (prompts and lessons), because a contract
fixes them (tools of the memory server), or because journals hold them (messages of verdicts).
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIXED = (
    "koderz_core/prompts/",
    "koderz_core/memory/cortex/",
    "koderz_core/memory/lessons.py",
    "koderz_core/memory/patterns.py",
    "koderz_core/sandbox/inside/",
    "koderz_core/sandbox/judge.py",
    "koderz_core/sandbox/modules.py",
    "koderz_core/sandbox/repository/verdicts.py",
)
"""Texts for models, whose wording is part of an experiment; claude-cortex-core's contract; recorded verdicts."""
GENERATED = {"commands.md", "data-dictionary.md", "results.md", "style-sample.md", "design.md"}
"""Guides that are made by programs, the judged sample, which quotes other texts, and the design of a study, which is
registered.
"""
SHOWN = {"cli", "pages", "export", "report"}
"""Folders whose strings a user reads, wherever they stand in the file."""
CALLS = {"echo", "print", "secho", "confirm", "prompt", "style"}
"""Functions whose texts a user reads, wherever they are called."""
HELP = {"help", "short_help", "epilog", "about", "description", "label", "placeholder", "title", "name"}
SQL = re.compile(r"\s*(select|insert|create|update|delete|with|alter|drop|pragma|attach|copy|from|where|order by)\b")
PROSE = re.compile(r"[A-Za-z]{2,}[,;:.]? +[A-Za-z{(]{2,}")
END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_\[]*(?:[A-Z0-9{`]|koderz\b))")
SENTENCE = re.compile(r"(?:[A-Za-z'`{}…][\w'`{}…/-]*[,;:.]? +){3}[A-Za-z{`]")
"""Four words in a row: prose in folders whose strings are mostly names."""
MADE = re.compile(
    r"<!-- begin of what .*|<!-- measured: begin -->.*?<!-- measured: end -->|<!--.*?-->|~~[^~\n]+~~", re.DOTALL
)
"""What scripts have made within a guide, comments, and faulty texts that are struck out."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text that a user can read, and where it is written."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}\t{self.text}"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that docs/style.md forbids, and the longer ones in which it is allowed."""

    words: str
    allowed: tuple[str, ...]

    def occurs(self, text: str) -> bool:
        left = text
        for allowed in self.allowed:
            left = _words(allowed).sub("", left)
        return bool(_words(self.words).search(left))


def sources(root: Path = ROOT) -> Iterator[Sentence]:
    """The strings of the code."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in _code(root)}
    errors = _errors(trees.values())
    for path, tree in trees.items():
        name = path.relative_to(root).as_posix()
        found = {(node.lineno, node.col_offset): node for node in _strings(tree, errors, name)}
        for (line, _), node in sorted(found.items()):
            parts = END.split(_one_line(_text(node)))
            yield from (Sentence(name, line, part) for part in parts if re.search("[A-Za-z]", part))


def guides(root: Path = ROOT) -> Iterator[Sentence]:
    """README.md and the guides that people write, sentence by sentence, without blocks of code."""
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        if path.name not in GENERATED:
            text = _blanked(path.read_text(encoding="utf-8"))
            for line, block in _blocks(text):
                start = line
                for part in END.split(block):
                    yield Sentence(path.relative_to(root).as_posix(), start, _one_line(part))
                    start += part.count("\n")


@cache
def forbidden(root: Path = ROOT) -> tuple[Phrase, ...]:
    """The phrases that docs/style.md forbids."""
    text = (root / "docs" / "style.md").read_text(encoding="utf-8")
    part = text.partition("## Forbidden phrases")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in part.splitlines() if line.startswith("| `")]
    return tuple(
        Phrase(phrase, tuple(re.findall("`(.+?)`", ok))) for no, ok in rows for phrase in re.findall("`(.+?)`", no)
    )


def faults(sentences: Iterable[Sentence]) -> Iterator[tuple[Sentence, str]]:
    """Sentences with a forbidden phrase, and the phrase; docs/style.md and words in backticks are not searched."""
    for sentence in (sentence for sentence in sentences if sentence.file != "docs/style.md"):
        text = re.sub(r"`[^`]*`", "``", sentence.text)
        yield from ((sentence, phrase.words) for phrase in forbidden() if phrase.occurs(text))


@cache
def _words(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(phrase)}(?![\w-])".replace(r"\ ", r"\s+"), re.IGNORECASE)


def _code(root: Path) -> list[Path]:
    files = [root / "app.py", *(path for folder in ("koderz_core", "pages") for path in (root / folder).rglob("*.py"))]
    return sorted(path for path in files if not path.relative_to(root).as_posix().startswith(FIXED))


def _errors(trees: Iterable[ast.Module]) -> set[str]:
    """The names of KoderzError and of all classes below it, and click's."""
    bases = {
        node.name: {_name(base) for base in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    names = {"KoderzError", "BadParameter", "ClickException", "UsageError"}
    while more := {name for name, of in bases.items() if of & names} - names:
        names |= more
    return names


def _strings(tree: ast.Module, errors: set[str], name: str) -> Iterator[ast.expr]:
    """The strings that a user can read: all prose, errors, help, labels, and what is printed."""
    docstrings = set(map(id, _docstrings(tree)))
    prose = PROSE if SHOWN.intersection(name.split("/")) else SENTENCE
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Assert):
            yield from (text for text in _inside(node) if id(text) not in docstrings and _is_prose(text, prose))
        if isinstance(node, ast.Call):
            yield from _of_call(node, errors)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and _is_documented(node, name):
            yield next(_docstrings(node))


def _of_call(node: ast.Call, errors: set[str]) -> Iterator[ast.expr]:
    called = _name(node.func)
    if called in errors or called in CALLS:
        yield from chain.from_iterable(_inside(argument) for argument in node.args)
    elif isinstance(node.func, ast.Attribute) and _name(node.func.value) == "st":  # a label may be one word
        yield from (text for text in map(_string, node.args[:1]) if text)
    for keyword in node.keywords:
        if keyword.arg in HELP and (called in errors or keyword.arg != "name"):
            yield from (text for text in _inside(keyword.value) if _is_prose(text, PROSE))


def _inside(node: ast.AST) -> Iterator[ast.expr]:
    """The strings of an expression or statement, an f-string as one; not those of statements within it."""
    if text := _string(node):
        yield text
    elif not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt):
                yield from _inside(child)


def _string(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.JoinedStr):
        return node
    return node if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _docstrings(tree: ast.AST) -> Iterator[ast.expr]:
    """Docstrings, and strings that describe the constant or the field above them."""
    yield from (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and _string(node.value))


def _is_documented(node: ast.FunctionDef | ast.ClassDef, name: str) -> bool:
    """Whether a user reads its docstring: commands and strategies show theirs."""
    if not ast.get_docstring(node):
        return False
    if isinstance(node, ast.ClassDef):
        return name.startswith("koderz_core/strategies/") and any(
            isinstance(part, ast.FunctionDef) and part.name == "solve" for part in node.body
        )
    decorators = {
        _name(decorator.func if isinstance(decorator, ast.Call) else decorator) for decorator in node.decorator_list
    }
    return bool(decorators & {"command", "group"})


def _is_prose(node: ast.expr, prose: re.Pattern[str]) -> bool:
    text = _text(node)
    return bool(prose.search(text)) and not SQL.match(text) and "\ndef " not in text and "import " not in text


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _blanked(text: str) -> str:
    """The text without blocks of code, comments and what scripts have made, with as many lines."""
    for pattern in (r"(?ms)^(```).*?^```", r"(?m)(?<=\n\n)(?: {4}.*\n)+", MADE):
        text = re.sub(pattern, lambda found: "\n" * found[0].count("\n"), text)
    return text


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, headings, items of lists and cells of tables, each with its line."""
    start, block = 1, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if not line.strip() or re.match(r"\s*([-*#|]|\d+\.) ?", line):
            if block.strip():
                yield start, block
            start, block = number, ""
        if line.lstrip().startswith("|"):
            yield from ((number, cell.strip()) for cell in line.split("|") if re.search("[A-Za-z]", cell))
        elif line.strip():
            start, block = (start, f"{block}\n{line}") if block else (number, line)


def main() -> None:
    parser = argparse.ArgumentParser(description="Export every sentence of koderz that a user can read.")
    parser.add_argument("--sample", type=int, metavar="N", help="print N sentences, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default: 0)")
    parser.add_argument("--forbidden", action="store_true", help="print only sentences with a forbidden phrase")
    options = parser.parse_args()
    sentences = [*sources(), *guides()]
    if options.forbidden:
        for sentence, phrase in faults(sentences):
            print(f"{sentence}\t[{phrase}]")
        return
    if options.sample is not None:
        sentences = random.Random(options.seed).sample(sentences, min(options.sample, len(sentences)))
    print("\n".join(map(str, sentences)))


if __name__ == "__main__":
    main()
