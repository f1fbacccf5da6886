"""Labels of configurations: the shortest text that distinguishes each from the others of its benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from koderz_core.records import Configuration, Scalar
from koderz_core.records.plans import scripted
from koderz_core.strategies import name_of

_POLICIES = {"gate": "tests", "feedback": "full"}  # with their defaults, which labels omit


def labels(configurations: Sequence[Configuration]) -> Mapping[str, str]:
    """The label of each configuration by its id: strategy, models, unusual policies, and distinguishing parameters.

    Values that most configurations of a strategy share are omitted, so the label of an ablation shows its change.
    """
    differing = _differing(configurations)
    forms: tuple[Callable[[Configuration], str], ...] = (
        lambda labelled: _label(labelled, _models(labelled), differing),
        lambda labelled: _label(labelled, _roles(labelled), differing),
        lambda labelled: f"{_label(labelled, _roles(labelled), differing)} {labelled.id}",
    )
    found: dict[str, str] = {}
    for form in forms:
        rest = [configuration for configuration in configurations if configuration.id not in found]
        words = [sorted(form(configuration).split()) for configuration in rest]  # another order does not distinguish
        found |= {
            configuration.id: form(configuration)
            for configuration, own in zip(rest, words, strict=True)
            if words.count(own) == 1
        }
    return found | {
        configuration.id: configuration.id for configuration in configurations if configuration.id not in found
    }


Common = Mapping[str, str | None]
"""Parameter -> the ``repr`` of the value that more than half of the configurations share; None: there is none."""


def _label(configuration: Configuration, models: str, differing: Mapping[str, Common]) -> str:
    strategy, settings = name_of(configuration), _settings(configuration)
    distinguishing = {name for name, value in differing[strategy].items() if repr(settings.get(name)) != value}
    names = sorted(distinguishing | _POLICIES.keys())
    values = ", ".join(f"{name}={settings[name]}" for name in names if name in settings)
    return " ".join(part for part in (strategy, models, f"({values})" if values else "") if part)


def _differing(configurations: Sequence[Configuration]) -> Mapping[str, Common]:
    """Strategy -> its parameters with more than one value among the configurations; a missing one is a value too."""
    found: dict[str, Common] = {}
    for strategy in {name_of(configuration) for configuration in configurations}:
        group = [_settings(configuration) for configuration in configurations if name_of(configuration) == strategy]
        values = {name: Counter(repr(other.get(name)) for other in group) for settings in group for name in settings}
        found[strategy] = {name: _common(counted) for name, counted in values.items() if len(counted) > 1}
    return found


def _common(counted: Counter[str]) -> str | None:
    ((value, times),) = counted.most_common(1)
    return value if 2 * times > counted.total() else None


def _settings(configuration: Configuration) -> Mapping[str, Scalar]:
    """The parameters, and the policies that differ from their defaults."""
    policies = {name: getattr(configuration, name) for name in _POLICIES}
    return {**configuration.parameters, **{name: value for name, value in policies.items() if value != _POLICIES[name]}}


def _models(configuration: Configuration) -> str:
    return " + ".join(dict.fromkeys(_short(model) for members in configuration.models.values() for model in members))


def _roles(configuration: Configuration) -> str:
    return " ".join(f"{role}={'+'.join(map(_short, members))}" for role, members in configuration.models.items())


def _short(model: str) -> str:
    """The model's name without provider and publisher; a scripted model is marked."""
    name = model.rsplit("/", 1)[-1]
    return f"SCRIPTED {name}" if scripted([model]) else name
