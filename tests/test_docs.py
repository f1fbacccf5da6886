"""What README and the guides tell a person to type, to follow and to set is there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

import click
import pytest

import koderz_core
from koderz_core.cli import COMMANDS, commands
from koderz_core.cli.order import order
from koderz_core.cli.reference import markdown
from koderz_core.config import SETTINGS

ROOT = Path(koderz_core.__file__).parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GENERATED = {"commands.md"}
WRITTEN = [path for path in GUIDES if path.name not in GENERATED]
ON_THE_SCREEN = re.compile(r"^\| <!-- .*?\|", re.MULTILINE)  # what koderz says, which may begin with its name
FOREIGN = {
    "notices.md": {"--token"},
    "style-sample.md": {"--token"},  # it quotes notices.md
    "durability.md": {"--filling", "--work"},
    "grading.md": {"--bounds"},
    "performance.md": {"--exports", "--iterations", "--minutes", "--work"},
}
"""Options of other programs that guides name by themselves."""
ORDERING = r"--(configuration|strategy|mode) "
NUMBERS_AND_CHOICES = (click.Choice, click.types.IntParamType, click.types.FloatParamType)


def fenced(text: str, language: str) -> str:
    return "\n".join(re.findall(rf"^```(?:{language})\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def prose(text: str) -> str:
    return re.sub(r"^```.*?^```", "", ON_THE_SCREEN.sub("|", text), flags=re.MULTILINE | re.DOTALL)


def spans(text: str) -> list[str]:
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(text))]


def typed(path: Path) -> Iterator[str]:
    text = path.read_text()
    lines = fenced(text, "sh|bash").replace("\\\n", " ").splitlines()
    yield from (part.strip() for line in lines for part in re.split(r"&&|\|", line))
    yield from spans(text)


def command_lines(path: Path) -> set[str]:
    return {line for line in typed(path) if re.match(r"koderz [a-z-]", line)}


def check(line: str) -> None:
    """Raise what click raises for a command, option or value that there is not."""
    words = [word.strip("[]") for word in shlex.split(line, comments=True)][1:]
    command: click.Command = commands
    context = click.Context(command, info_name="koderz")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, info_name=found.name, parent=context)
    words, opened = ([*words[: words.index("--")]], True) if "--" in words else (words, False)
    given, left, _ = command.make_parser(context).parse_args(words)
    assert not left, f"{line}: {left} is one argument too many"
    assert opened is False or any(isinstance(parameter, click.Argument) for parameter in command.params)
    for option in command.params:
        value = given.get(option.name or "")
        if isinstance(option.type, NUMBERS_AND_CHOICES) and isinstance(value, str) and not value.isupper():
            option.type_cast_value(context, value)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_a_command_line_of_a_guide_can_be_typed(path: Path) -> None:
    faults: list[str] = []
    for line in sorted(command_lines(path)):
        try:
            check(line)
        except (click.UsageError, AssertionError) as error:
            faults.append(f"{line}: {error}")
    assert faults == []


def orders() -> list[str]:
    """What is benchmarked with koderz' own strategies; options that a guide names by themselves are of a benchmark."""
    lines = (line for path in WRITTEN for line in command_lines(path))
    wanted = {line for line in lines if re.match(r"koderz (run|benchmark) -", line)}
    guides = [spans(path.read_text()) for path in WRITTEN]
    wanted |= {f"koderz benchmark {span}" for found in guides for span in found if re.match(ORDERING, span)}
    return sorted(line for line in wanted if not re.search(r"\.py:|--help|humaneval-path", line))


@pytest.mark.parametrize("line", orders())
def test_what_a_guide_orders_are_strategies_roles_and_parameters_that_there_are(line: str) -> None:
    name, *words = shlex.split(line, comments=True)[1:]
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    parsed = click.Context(command)
    command.parse_args(parsed, words if name == "benchmark" else [*words, "--problem-id", "HumanEval/0"])
    assert order(parsed.params, "0:1").configurations


@pytest.mark.parametrize(
    "line",
    [
        "koderz nothing",
        "koderz export --fromat csv",
        "koderz export --format cvs",
        "koderz reindex twice",
        "koderz ui --port x",
    ],
)
def test_a_command_line_that_cannot_be_typed_is_noticed(line: str) -> None:
    with pytest.raises((click.UsageError, AssertionError)):
        check(line)


@cache
def every_option() -> set[str]:
    named = re.findall(r"^- `(.+?)`:", markdown(), re.MULTILINE)
    return {word for record in named for word in re.findall(r"--[a-z-]+", record)} | {"--version", "--help"}


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_an_option_that_a_guide_names_by_itself_is_one_of_some_command(path: Path) -> None:
    named = {word for span in spans(path.read_text()) for word in re.findall(r"^--[a-z-]+", span)}
    assert named - every_option() - FOREIGN.get(path.name, set()) == set()


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_a_file_of_the_code_that_a_guide_names_exists(path: Path) -> None:
    for name in re.findall(r"(?<![\w/.])((?:koderz_core|pages|tests|benchmarks)/[\w./-]*\w)", path.read_text()):
        assert (ROOT / name).exists(), f"{path.name} names {name}"


def slugs(path: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a file."""
    headings = re.findall(r"^#+ (.+)$", prose(path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", path.read_text()):
        place, _, anchor = "".join(link).partition("#")
        if re.match(r"[a-z]+:", place):
            continue
        target = path.parent / place if place else path
        assert target.exists(), f"{path.name} links to {place}"
        assert not anchor or anchor in slugs(target), f"{path.name} links to #{anchor} of {target.name}"


def test_the_reference_of_commands_is_what_the_commands_say() -> None:
    path = ROOT / "docs" / "commands.md"
    assert path.read_text(encoding="utf-8") == markdown(), "python -m koderz_core.cli.reference > docs/commands.md"


def test_the_reference_has_every_command_and_the_index_every_guide() -> None:
    assert set(re.findall(r"^## koderz ([a-z-]+)", markdown(), re.MULTILINE)) == set(COMMANDS)
    index = (ROOT / "docs" / "README.md").read_text()
    assert [path.name for path in GUIDES if path.parent.name == "docs" and f"]({path.name})" not in index] == [
        "README.md"
    ]


def of_the_environment() -> set[str]:
    """How each setting is called there, under its first name."""
    return {setting.variable for setting in SETTINGS.values()}


def test_the_example_of_an_env_file_has_every_setting_once_and_no_other() -> None:
    lines = re.findall(r"^#?([A-Z][A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert [name for name, again in groupby(sorted(lines)) if len(list(again)) > 1] == []
    assert set(lines) == of_the_environment()


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_a_setting_that_a_guide_names_exists(path: Path) -> None:
    assert set(re.findall(r"\bKODERZ_[A-Z_]+\b", path.read_text())) <= of_the_environment()
