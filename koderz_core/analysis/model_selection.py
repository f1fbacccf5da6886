"""Ranks models by the policy of a selection, from their results on the same problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from koderz_core.errors import UnknownNameError
from koderz_core.records.plans import CONTEXT, COST, FIXED, LATENCY, POLICIES, QUALITY, Measurement, Ranked
from koderz_core.sums import known_mean

Problem = tuple[str, str]
"""The hash of a dataset, and the id of a problem in it."""


def ranked(
    policy: str,
    models: Sequence[str],
    measured: Iterable[Measurement] = (),
    contexts: Mapping[str, int | None] | None = None,
) -> tuple[Ranked, ...]:
    """These models, the preferred one first; unknown ones come last, and equals keep their order.

    Only problems with results of all measured models count: otherwise an easy set of problems would favour the models
    that were given it. ``contexts``: the tokens of prompt and answer together. Raises UnknownNameError.
    """
    if policy not in POLICIES:
        raise UnknownNameError("selection policy", policy, POLICIES)
    if policy == FIXED:
        return tuple(
            Ranked(model, None, f"number {place} of {len(models)} in the given order")
            for place, model in enumerate(models, 1)
        )
    if policy == CONTEXT:
        candidates = [_by_context(model, (contexts or {}).get(model)) for model in models]
    else:
        candidates = _by_results(policy, models, measured)
    sign = -1 if policy in (QUALITY, CONTEXT) else 1
    return tuple(sorted(candidates, key=lambda model: (model.score is None, sign * (model.score or 0.0))))


def _by_context(model: str, tokens: int | None) -> Ranked:
    return Ranked(
        model, tokens, "its context length is unknown" if tokens is None else f"context length {tokens} tokens"
    )


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
    """``results`` None: it has none; empty: none on a problem with results of all others."""
    if not results:
        reason = "no results" if results is None else "no problem has a result from every measured model"
        return Ranked(model, None, reason)
    score, count = known_mean(_VALUES[policy](result) for result in results), len(results)
    if score is None:
        return Ranked(model, None, f"its {policy} is unknown")
    problems = f"{count} {'problem' if count == 1 else 'problems'}"
    return Ranked(model, score, f"{_SAID[policy].format(score)} on {problems}")


_VALUES: Mapping[str, Callable[[Measurement], float | None]] = {
    QUALITY: lambda result: result.solved / result.experiments,
    LATENCY: lambda result: None if result.seconds is None else result.seconds / result.experiments,
    COST: lambda result: None if result.cost_usd is None else result.cost_usd / result.experiments,
}
_SAID: Mapping[str, str] = {
    QUALITY: "solved {:.1%}",
    LATENCY: "calls took {:.3g} s per experiment",
    COST: "calls cost ${:.3g} per experiment",
}
