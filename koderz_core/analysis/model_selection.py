"""Which of some models a policy prefers, by what they have done on the same problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from koderz_core.errors import UnknownNameError
from koderz_core.records.plans import CONTEXT, COST, FIXED, LATENCY, POLICIES, QUALITY, Measurement, Ranked
from koderz_core.sums import all_known

Problem = tuple[str, str]
"""The hash of a dataset, and the id of a problem in it."""


def ranked(
    policy: str,
    models: Sequence[str],
    measured: Iterable[Measurement] = (),
    contexts: Mapping[str, int | None] | None = None,
) -> tuple[Ranked, ...]:
    """These models, the preferred one first; those that nothing is known of come last, and equals as they are named.

    Only problems count that all of those were tried on that were tried at all: an easy set of them would speak for
    whoever was given it. ``contexts``: the tokens of prompt and answer together. Raises UnknownNameError.
    """
    if policy not in POLICIES:
        raise UnknownNameError("policy of a selection", policy, POLICIES)
    if policy == FIXED:
        return tuple(Ranked(one, None, f"named {place} of {len(models)}") for place, one in enumerate(models, 1))
    if policy == CONTEXT:
        found = [_by_context(model, (contexts or {}).get(model)) for model in models]
    else:
        found = _by_results(policy, models, measured)
    sign = -1 if policy in (QUALITY, CONTEXT) else 1
    return tuple(sorted(found, key=lambda one: (one.score is None, sign * (one.score or 0.0))))


def _by_context(model: str, tokens: int | None) -> Ranked:
    return Ranked(model, tokens, "its context is not known" if tokens is None else f"a context of {tokens} tokens")


def _by_results(policy: str, models: Sequence[str], measured: Iterable[Measurement]) -> list[Ranked]:
    of: dict[str, dict[Problem, Measurement]] = {}
    for measurement in measured:
        if measurement.model in models:
            of.setdefault(measurement.model, {})[measurement.dataset_sha256, measurement.problem] = measurement
    common = set.intersection(*(set(problems) for problems in of.values())) if of else set()
    return [
        _scored(policy, model, [of[model][place] for place in sorted(common)] if model in of else None)
        for model in models
    ]


def _scored(policy: str, model: str, results: Sequence[Measurement] | None) -> Ranked:
    """``results`` None: it was never tried; empty: not on a problem that all others were tried on too."""
    if not results:
        return Ranked(model, None, "no results" if results is None else "no problem that all others were tried on too")
    known = all_known(_VALUES[policy](result) for result in results)
    if known is None:
        return Ranked(model, None, f"its {policy} is not known")
    score, count = fmean(known), len(results)
    problems = f"{count} {'problem' if count == 1 else 'problems'}"
    return Ranked(model, score, f"{_SAID[policy].format(score)} on {problems}")


_VALUES: Mapping[str, Callable[[Measurement], float | None]] = {
    QUALITY: lambda one: one.solved / one.experiments,
    LATENCY: lambda one: None if one.seconds is None else one.seconds / one.experiments,
    COST: lambda one: None if one.cost_usd is None else one.cost_usd / one.experiments,
}
_SAID: Mapping[str, str] = {
    QUALITY: "solved {:.1%}",
    LATENCY: "{:.3g} seconds of calls per experiment",
    COST: "${:.3g} of calls per experiment",
}
