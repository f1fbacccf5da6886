"""What a configuration is called on screen: as short as tells it from the others of its benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from koderz_core.records import Configuration, Scalar
from koderz_core.strategies import called

_POLICIES = {"gate": "tests", "feedback": "full"}  # with what they are where nothing is said


def labels(configurations: Sequence[Configuration]) -> Mapping[str, str]:
    """The label of each configuration by its id: strategy and models, unusual policies, what else tells them apart."""
    differing = _differing(configurations)
    forms: tuple[Callable[[Configuration], str], ...] = (
        lambda one: _label(one, _models(one), differing),
        lambda one: _label(one, _roles(one), differing),
        lambda one: f"{_label(one, _roles(one), differing)} {one.id}",
    )
    found: dict[str, str] = {}
    for form in forms:
        open_ones = [one for one in configurations if one.id not in found]
        words = [sorted(form(one).split()) for one in open_ones]  # the same words in another order tell nobody apart
        found |= {one.id: form(one) for one, said in zip(open_ones, words, strict=True) if words.count(said) == 1}
    return found | {one.id: one.id for one in configurations if one.id not in found}


def _label(one: Configuration, models: str, differing: frozenset[str]) -> str:
    settings, differing = _settings(one), differing | _POLICIES.keys()
    told = ", ".join(f"{name}={settings[name]}" for name in sorted(differing) if name in settings)
    return " ".join(part for part in (_strategy(one), models, f"({told})" if told else "") if part)


def _differing(configurations: Sequence[Configuration]) -> frozenset[str]:
    """Parameters with more than one value among configurations of one name; lacking one is a value too."""
    found: set[str] = set()
    for strategy in {_strategy(one) for one in configurations}:
        kin = [_settings(one) for one in configurations if _strategy(one) == strategy]
        names = {name for settings in kin for name in settings}
        found |= {name for name in names if len({repr(settings.get(name)) for settings in kin}) > 1}
    return frozenset(found)


def _strategy(one: Configuration) -> str:
    return called(one.strategy, one.parameters)


def _settings(one: Configuration) -> Mapping[str, Scalar]:
    """Parameters, and policies that are not as by default."""
    policies = {name: getattr(one, name) for name in _POLICIES}
    return {**one.parameters, **{name: value for name, value in policies.items() if value != _POLICIES[name]}}


def _models(one: Configuration) -> str:
    return " + ".join(dict.fromkeys(_short(model) for members in one.models.values() for model in members))


def _roles(one: Configuration) -> str:
    return " ".join(f"{role}={'+'.join(map(_short, members))}" for role, members in one.models.items())


def _short(model: str) -> str:
    """The model's own name, without the provider's and the publisher's; a scripted one says so."""
    name = model.rsplit("/", 1)[-1]
    return f"SCRIPTED {name}" if model.startswith("scripted/") else name
