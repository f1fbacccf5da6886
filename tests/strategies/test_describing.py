"""Strategies describe themselves: what a person reads anywhere is read off their docstrings and fields."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import pytest

import koderz_core
from koderz_core.errors import PlanError
from koderz_core.plan.forms import calls_of, strategies_markdown, strategy_form
from koderz_core.strategies import STRATEGIES, class_of, create, offered
from koderz_core.strategies.facts import ROLES, Facts
from koderz_core.strategies.parameters import Description, choices_of, describe, meaning_of, parameter

DOCS = Path(koderz_core.__file__).parents[1] / "docs" / "strategies.md"


@dataclass(frozen=True)
class Choosy:
    """Choose a word, then ``ask``.

    More on that.

    Calls: one per ``word``, or two. After Doe et al. (arXiv 0000.00000), who chose
    words. It is an example.
    """

    word: str = parameter("one", "Which word.", ("one", "two"))
    temperature: float = 0.0
    unsaid: int = 1

    def roles(self) -> tuple[str, ...]:
        return ("coder",)


@dataclass(frozen=True)
class Silent:
    size: int = 1


@pytest.mark.parametrize("name", offered())
def test_every_strategy_says_what_it_does_what_that_costs_in_calls_and_where_it_comes_from(name: str) -> None:
    form = strategy_form(name)
    assert form.doc
    assert form.calls
    assert form.source
    assert all(role.doc for role in form.roles)


def test_a_paragraph_with_calls_says_those_in_a_sentence_and_then_the_source() -> None:
    said = Description(
        "Choose a word, then ask.",
        "one per word, or two.",
        "After Doe et al. (arXiv 0000.00000), who chose words. It is an example.",
    )
    assert describe(Choosy) == said


def test_who_says_nothing_of_calls_is_said_to_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert describe(Silent) == Description("", "", "")
    monkeypatch.setitem(STRATEGIES, "choosy", Silent)  # type: ignore[arg-type]
    monkeypatch.setattr(Silent, "roles", lambda _: ("coder",), raising=False)
    assert calls_of(strategy_form("choosy")) == "The author of this strategy does not state the number of calls."


def test_a_parameter_is_explained_by_its_field_else_as_everywhere() -> None:
    word, temperature, unsaid = fields(Choosy)
    assert (meaning_of(word).about, choices_of(word)) == ("Which word.", ("one", "two"))
    assert meaning_of(temperature).about.startswith("Sampling temperature")
    assert (meaning_of(unsaid).about, choices_of(unsaid)) == ("", ())


def test_a_word_that_a_field_does_not_offer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "choosy", Choosy)  # type: ignore[arg-type]
    assert create("choosy", {"word": "two"}) == Choosy("two")
    with pytest.raises(PlanError, match="word must be one of one, two, not 'three'"):
        create("choosy", {"word": "three"})


def test_every_role_is_explained() -> None:
    assert all(role.about for role in ROLES.values())


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_states_no_fact_that_koderz_does_not_know(name: str) -> None:
    known = {field.name for field in (*fields(Facts), *fields(class_of(name)))}
    own = vars(class_of(name)).items()
    stated = {key for key, value in own if not (key.startswith("_") or callable(value) or isinstance(value, property))}
    assert stated <= known


def test_the_documentation_says_what_the_strategies_say() -> None:
    wanted = strategies_markdown([strategy_form(name) for name in offered()])
    _, _, printed = DOCS.read_text().partition("-->\n")
    assert printed.strip() == wanted.strip(), "print it anew, below its comment: koderz strategies --markdown"


def test_a_class_is_found_by_the_name_of_its_preset() -> None:
    assert class_of("repair") is class_of("supervised")
