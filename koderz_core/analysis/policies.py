"""Policies as a user writes them: ``retry qwen k=3``, ``ladder small>large gate=examples``, ``recorded A``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.records.attempts import AS_RECORDED, Mixture, Policy, Source, Stage

MOST_TRIES = 1000
EXAMPLES = ("retry MODEL k=3", "ladder SMALL>LARGE gate=examples", "recorded A", "mix 0.5 POLICY | 0.5 POLICY")
_OPTION = re.compile(r"(k|gate|threshold|patience)=([^\s()]+)")
"""Labels of configurations may contain the same words, but those are in parentheses."""
_STAGE = re.compile(r"(.+?)(?:\*(\d{1,4}))?", re.DOTALL)


def policies(text: str, sources: Mapping[str, Source], aliases: Mapping[str, str]) -> list[Policy | Mixture]:
    """The policies that a text names: several if it states several numbers of tries (``k=1,2,5``).

    ``aliases``: further names of sources. Raises UsageError, UnknownNameError.
    """
    kind, _, rest = text.strip().partition(" ")
    if kind == "mix":
        return [_mixture(rest, sources, aliases)]
    if kind == "recorded":
        return [_recorded(rest.strip(), sources, aliases)]
    words, options = _options(rest)
    if kind not in ("retry", "ladder") or not words:
        raise UsageError(f"{text!r} is not a policy. Write one of these: {'; '.join(EXAMPLES)}.")
    if kind == "ladder" and "k" in options:
        raise UsageError(
            f"{text!r}: omit k=, and write the number of attempts after each stage of the ladder, as in SMALL*2>LARGE."
        )
    if kind == "ladder":
        stages = tuple(_stage(step.strip(), sources, aliases) for step in words.split(">"))
        return [_policy(kind, stages, options, sources)]
    numbers = [_tries(number) for number in options.pop("k", "1").split(",")]
    source = source_named(words, max(numbers), sources, aliases)
    return [_policy(kind, (Stage(source, number),), options, sources) for number in numbers]


def _policy(kind: str, stages: tuple[Stage, ...], options: Mapping[str, str], sources: Mapping[str, Source]) -> Policy:
    steps = " > ".join(stage.source + (f"*{stage.tries}" if stage.tries > 1 else "") for stage in stages)
    gate = _gate(options.get("gate"), stages, sources)
    threshold = _number(options, "threshold", 1.0)
    patience = _number(options, "patience", 0.0)
    if not 0 < threshold <= 1 or patience != int(patience):
        raise UsageError("threshold= must be above 0 and at most 1, and patience= must be a whole number.")
    said = [f"{kind} {steps}" if kind == "ladder" else f"retry {stages[0].source} k={stages[0].tries}"]
    said += [f"gate={gate}"] if gate else []
    said += [f"threshold={threshold:g}"] if threshold < 1 else []
    said += [f"patience={patience:g}"] if patience else []
    return Policy(" ".join(said), stages, gate, threshold, int(patience) or None)


def _mixture(text: str, sources: Mapping[str, Source], aliases: Mapping[str, str]) -> Mixture:
    parts: list[tuple[float, Policy]] = []
    for part in text.split("|"):
        weight, _, rest = part.strip().partition(" ")
        found = policies(rest, sources, aliases)
        if len(found) != 1 or isinstance(found[0], Mixture):
            raise UsageError(f"{part.strip()!r} must consist of a weight and one policy, as in 0.5 retry MODEL k=3.")
        parts.append((_as_number(weight, "the weight"), found[0]))
    if len(parts) < 2 or any(weight <= 0 for weight, _ in parts) or abs(sum(weight for weight, _ in parts) - 1) > 1e-9:
        raise UsageError("A mixture needs at least two policies. Their weights must be above 0 and add up to 1.")
    return Mixture("mix " + " | ".join(f"{weight:g} {part.name}" for weight, part in parts), tuple(parts))


def _recorded(words: str, sources: Mapping[str, Source], aliases: Mapping[str, str]) -> Policy:
    name = aliases.get(words) or aliases.get(words.upper()) or words
    if name not in sources or not sources[name].recorded:
        choices = [f"{alias} = {source}" for alias, source in aliases.items() if len(alias) == 1]
        raise UnknownNameError("configuration", words, choices)
    return Policy(f"recorded {name}", (Stage(name, AS_RECORDED),))


def _options(text: str) -> tuple[str, dict[str, str]]:
    """The words before the options at the end of a text, and the options."""
    words, options = text.split(), {}
    while words and (match := _OPTION.fullmatch(words[-1])):
        if match[1] in options:
            raise UsageError(f"The policy contains {match[1]}= twice. Write it once.")
        options[match[1]] = match[2]
        words.pop()
    return " ".join(words), options


def _stage(text: str, sources: Mapping[str, Source], aliases: Mapping[str, str]) -> Stage:
    match = _STAGE.fullmatch(text)
    if match is None:
        raise UsageError("Each stage of a ladder needs a model. Write, for example, ladder SMALL>LARGE.")
    tries = _tries(match[2] or "1")
    return Stage(source_named(match[1].strip(), tries, sources, aliases), tries)


def _tries(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_TRIES:
        raise UsageError(f"The number of attempts must be from 1 to {MOST_TRIES}, not {text!r}.")
    return int(text)


def source_named(word: str, tries: int, sources: Mapping[str, Source], aliases: Mapping[str, str]) -> str:
    """The source with this name or alias, else the one of the model: ``MODEL`` or ``MODEL@TEMPERATURE``.

    If a model was asked at several temperatures, the lowest; for several tries, the lowest above 0. Raises
    UnknownNameError; UsageError if several fit.
    """
    for name in (word, aliases.get(word), aliases.get(word.upper())):
        if name is not None and name in sources:
            return name
    model, _, temperature = word.partition("@")
    drawn = [source for source in sources.values() if not source.recorded and _is_model(model, source.model)]
    if temperature:
        wanted = _as_number(temperature, "the temperature")
        drawn = [source for source in drawn if source.temperature == wanted]
    if not drawn:
        raise UnknownNameError("model or configuration", word, [name for name in sources if name not in aliases])
    if len({source.model for source in drawn}) == 1 and not temperature:
        usable = [source for source in drawn if tries == 1 or not source.greedy] or drawn
        lowest = min(source.temperature or 0.0 for source in usable)
        drawn = [source for source in usable if (source.temperature or 0.0) == lowest]
    if len(drawn) > 1:
        raise UsageError(
            f"{word!r} matches several recorded models or temperatures: {'; '.join(source.name for source in drawn)}. "
            "Write one of these names."
        )
    return drawn[0].name


def _is_model(word: str, model: str) -> bool:
    """By id, by its last part, or by starts of parts of the last part in their order (``qwen-0.5b``)."""
    last = model.rpartition("/")[2].lower()
    if word in (model, last):
        return True
    parts = iter(re.split(r"[-:_]", last))
    return bool(word) and all(any(part.startswith(piece) for part in parts) for piece in word.lower().split("-"))


def _gate(stated: str | None, stages: Sequence[Stage], sources: Mapping[str, Source]) -> str | None:
    """The stated gate, else the only one whose marks are recorded. None for a single attempt, which is submitted."""
    known = gates_of([sources[stage.source] for stage in stages])
    if stated is None and sum(stage.tries for stage in stages) == 1:
        return None
    if stated is not None:
        if stated not in known:
            raise UnknownNameError("gate", stated, list(known), "A policy needs a gate with recorded results.")
        return stated
    if len(known) > 1:
        raise UsageError(
            f"The recorded programs were tested with several gates. Choose one gate: gate={' or gate='.join(known)}."
        )
    if not known:
        raise UsageError(
            "The recorded programs of this policy were not run on gate tests, so it is unknown when the policy would "
            "stop. Use one attempt, or models whose programs were run on gate tests."
        )
    return known[0]


def gates_of(sources: Sequence[Source]) -> tuple[str, ...]:
    """The gates that tested a program of these sources."""
    return tuple(sorted({gate for source in sources for attempt in source.attempts for gate in attempt.gates}))


def _number(options: Mapping[str, str], name: str, usual: float) -> float:
    return _as_number(options[name], f"{name}=") if name in options else usual


def _as_number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not 0 <= number < 1e6:
        raise UsageError(f"{what} must be a number of at least 0, not {text!r}.")
    return number
