"""What a configuration is called on screen: as short as tells it from the others of its benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from koderz_core.records import Configuration, Scalar
from koderz_core.records.plans import scripted
from koderz_core.strategies import called

_POLICIES = {"gate": "tests", "feedback": "full"}  # with what they are where nothing is said


def labels(configurations: Sequence[Configuration]) -> Mapping[str, str]:
    """The label of each configuration by its id: strategy and models, unusual policies, what else tells them apart.

    What most configurations of a name share goes without saying, so an ablation is called by what it lacks.
    """
    differing = _differing(configurations)
    forms: tuple[Callable[[Configuration], str], ...] = (
        lambda one: _label(one, _models(one), _telling(one, differing)),
        lambda one: _label(one, _roles(one), _telling(one, differing)),
        lambda one: f"{_label(one, _roles(one), _telling(one, differing))} {one.id}",
    )
    found: dict[str, str] = {}
    for form in forms:
        open_ones = [configuration for configuration in configurations if configuration.id not in found]
        words = [
            sorted(form(open_one).split()) for open_one in open_ones
        ]  # the same words in another order tell nobody apart
        found |= {one.id: form(one) for one, said in zip(open_ones, words, strict=True) if words.count(said) == 1}
    return found | {
        configuration.id: configuration.id for configuration in configurations if configuration.id not in found
    }


def _label(one: Configuration, models: str, telling: frozenset[str]) -> str:
    settings, telling = _settings(one), telling | _POLICIES.keys()
    told = ", ".join(f"{name}={settings[name]}" for name in sorted(telling) if name in settings)
    return " ".join(part for part in (_strategy(one), models, f"({told})" if told else "") if part)


Usual = Mapping[str, str | None]
"""Parameter -> the value, as ``repr`` has it, that more than half share; None: there is none."""


def _differing(configurations: Sequence[Configuration]) -> Mapping[str, Usual]:
    """Name -> parameters with more than one value among the configurations of that name; lacking one is a value too."""
    found: dict[str, Usual] = {}
    for strategy in {_strategy(configuration) for configuration in configurations}:
        kin = [_settings(configuration) for configuration in configurations if _strategy(configuration) == strategy]
        values = {name: Counter(repr(one.get(name)) for one in kin) for settings in kin for name in settings}
        found[strategy] = {name: _shared(counted) for name, counted in values.items() if len(counted) > 1}
    return found


def _shared(counted: Counter[str]) -> str | None:
    ((value, times),) = counted.most_common(1)
    return value if 2 * times > counted.total() else None


def _telling(one: Configuration, differing: Mapping[str, Usual]) -> frozenset[str]:
    settings = _settings(one)
    usual = differing[_strategy(one)]
    return frozenset(name for name, value in usual.items() if repr(settings.get(name)) != value)


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
    return f"SCRIPTED {name}" if scripted([model]) else name
