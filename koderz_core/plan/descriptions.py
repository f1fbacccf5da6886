"""Strategies in words: what each does, asks and costs in calls, and what can be set in it; the same text everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from koderz_core.plan.forms import Parameter, StrategyForm
from koderz_core.records import Scalar
from koderz_core.strategies.parameters import MOST


def said(value: Scalar) -> str:
    """A value of a parameter, as a person types it in ``--configuration``; ``–`` for an empty text."""
    if value in ("", None):
        return "–"
    return str(value).lower() if isinstance(value, bool) else str(value)


def roles_of(form: StrategyForm) -> str:
    """Its roles; a star marks those whose models are all asked."""
    return ", ".join(f"{role.name}*" if role.several else role.name for role in form.roles)


def calls_of(form: StrategyForm) -> str:
    """What an experiment costs in calls, and where the strategy comes from, as far as its author says so."""
    calls = f"Calls: {form.calls}" if form.calls else "How many calls it makes, its author does not say."
    return f"{calls} {form.source}".strip()


def values_of(parameter: Parameter) -> str:
    """What a parameter may be: its words, or its kind with its bounds."""
    if parameter.choices:
        return " or ".join(parameter.choices)
    if parameter.kind == "bool":
        return "true or false"
    if parameter.kind == "str":
        return "text"
    most = " or more" if parameter.most == MOST else f" to {parameter.most}"
    return f"{'whole number' if parameter.kind == 'int' else 'number'}, {parameter.least}{most}"


def strategies_markdown(forms: Sequence[StrategyForm]) -> str:
    """All of it as Markdown, one section each."""
    return "\n".join(line for form in forms for line in _section(form))


def _section(form: StrategyForm) -> Iterator[str]:
    yield from (f"### {form.name}", "", f"{form.doc} {calls_of(form)}", "")
    for role in form.roles:
        yield f"- {role.name}: {role.doc}{' One or more models.' if role.several else ''}"
    yield from ("", "| parameter | default | values | what it changes |", "|---|---|---|---|")
    for parameter in form.parameters:
        yield f"| {parameter.name} | {said(parameter.default)} | {values_of(parameter)} | {parameter.doc} |"
    yield ""
