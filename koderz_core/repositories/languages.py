"""The language and the kind of a file, by its path."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from koderz_core.records.repositories import FileKind

LANGUAGES = {
    "Assembly": "asm s",
    "Batch": "bat cmd",
    "C": "c h",
    "C#": "cs",
    "C++": "cc cpp cxx hh hpp hxx",
    "CSS": "css less sass scss",
    "CSV": "csv tsv",
    "Clojure": "clj cljc cljs",
    "Cython": "pxd pxi pyx",
    "Dart": "dart",
    "Elixir": "ex exs",
    "Erlang": "erl hrl",
    "Fortran": "f f90 f95",
    "Go": "go",
    "HTML": "htm html jinja jinja2",
    "Haskell": "hs",
    "INI": "cfg ini",
    "JSON": "json json5 jsonl",
    "Java": "java",
    "JavaScript": "cjs js jsx mjs",
    "Julia": "jl",
    "Jupyter notebook": "ipynb",
    "Kotlin": "kt kts",
    "Lua": "lua",
    "Markdown": "markdown md mdx",
    "Objective-C": "m mm",
    "OCaml": "ml mli",
    "PHP": "php",
    "Perl": "pl pm",
    "PowerShell": "ps1 psm1",
    "Protocol Buffers": "proto",
    "Python": "py pyi pyw",
    "R": "r rmd",
    "Ruby": "gemspec rb",
    "Rust": "rs",
    "SQL": "sql",
    "SVG": "svg",
    "Scala": "scala",
    "Shell": "bash fish sh zsh",
    "Svelte": "svelte",
    "Swift": "swift",
    "TOML": "toml",
    "TeX": "tex",
    "Text": "txt",
    "TypeScript": "cts mts ts tsx",
    "Vue": "vue",
    "XML": "xml xsd",
    "YAML": "yaml yml",
    "Zig": "zig",
    "reStructuredText": "rst",
}
NAMES = {"Dockerfile": "Docker", "GNUmakefile": "Make", "Makefile": "Make", "makefile": "Make", "justfile": "Just"}
DOCUMENTATION = {"Markdown", "reStructuredText", "TeX", "Text"}
CONFIGURATION = {"Docker", "INI", "JSON", "Just", "Make", "TOML", "XML", "YAML"}
NEITHER = {"", "CSV", "SVG"}

_BY_ENDING = {ending: language for language, endings in LANGUAGES.items() for ending in endings.split()}
_TEST_FOLDERS = {"test", "tests", "testing", "spec", "specs", "__tests__", "e2e"}
_TEST_NAME = re.compile(r"(test_.*|.*_tests?|conftest|tests|.*[._](test|spec))", re.IGNORECASE)
_DOCUMENT = re.compile(
    r"(readme|licen[cs]e|copying|notice|authors|changes|changelog|contributing|security)(\W.*)?", re.I
)


def language_of(path: str) -> str:
    """The language of a file, "" if it is not known."""
    name = PurePosixPath(path).name
    return NAMES.get(name) or _BY_ENDING.get(PurePosixPath(name).suffix[1:].lower(), "")


def kind_of(path: str) -> FileKind:
    """What a file is for, by the usual names: a program in a folder of tests, or with the name of a test, is a test."""
    language, place = language_of(path), PurePosixPath(path)
    if _DOCUMENT.fullmatch(place.name) or language in DOCUMENTATION:
        return "documentation"
    if language in CONFIGURATION or place.name.startswith("."):
        return "configuration"
    if language in NEITHER:
        return "other"
    in_tests = any(folder.lower() in _TEST_FOLDERS for folder in place.parts[:-1])
    return "test" if in_tests or _TEST_NAME.fullmatch(place.stem) else "source"
