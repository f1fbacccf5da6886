"""Registrations in words: what was planned, what was done, what changed and when. Labels and names are hostile text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING

from koderz_core.analysis.noninferiority import LEVEL
from koderz_core.analysis.sequential import fewest_equal
from koderz_core.records import Plan
from koderz_core.records.progress import Forecast
from koderz_core.records.registrations import Decision, Registration, StoppingRule, registration_hash
from koderz_core.report.forecasts import between
from koderz_core.report.formats import NONE, TextTable, chance, money, numbered, one_line, points, within
from koderz_core.times import second

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.registration import Registered
    from koderz_core.analysis.sequential import Sequential

TITLE = "Registration"
STOPPING: Mapping[StoppingRule, str] = {
    "fixed": "fixed: stop after all planned experiments",
    "sequential": "sequential: stop as soon as the primary comparison is decided, or if the results on the remaining "
    "problems are unlikely to decide it",
}
_NO_RESULT = "unknown, because no problem has a result of both configurations yet"
EXPLORATORY = "All other comparisons of this benchmark are exploratory."


def decided(decision: Decision, problems: int, planned: int) -> str:
    """How the stopping rule of a sequential benchmark ended it."""
    how = {
        "matches": "the primary comparison shows a match",
        "falls short": "the primary comparison shows that the configuration's success rate is lower than the "
        "baseline's by more than the margin",
        "hopeless": "the results on the remaining problems would probably not decide the primary comparison",
    }[decision]
    after = f"after {problems} of {numbered(planned, 'problem')}"
    return f"The registered stopping rule ended this benchmark early, {after}: {how}."


def not_valid(label: str, other: str) -> str:
    """Why the primary comparison of a sequential benchmark has none of the usual tests."""
    return (
        f"{label} against {other} is the primary comparison of a sequential benchmark. For this comparison, p values "
        "and intervals for a fixed number of problems are not valid and not shown. The rank groups ignore this "
        "comparison. The section Registration shows the result."
    )


def about_untested(comparison: Comparison) -> Iterator[str]:
    """Why some pairs of these configurations, named by their letters, have none of the usual tests."""
    for pair in comparison.untested:
        yield not_valid(*(comparison.of(key).letter for key in pair))


def saved(left: Forecast | None) -> str:
    """What the experiments that were not run would have cost; empty if none is left or nothing is known of them."""
    if left is None or not left.experiments:
        return ""
    cost = between(left.cost_usd, money) if left.tells else "unknown"
    return f"Saved: {numbered(left.experiments, 'experiment')} that did not need to run. Estimated saving: {cost}."


def announced(plan: Plan, *, begun: bool) -> Iterator[str]:
    """What a registered plan commits to; no line if it is not registered.

    Before it has ``begun``, also its hash. Later the hash of the newest plan may differ from the published one, and
    ``koderz verify`` prints that of the first.
    """
    if not plan.registration:
        return
    rule = STOPPING[plan.registration.stopping]
    yield f"Registered: {primary_words(plan, plan.registration)}. Stopping rule: {rule}. {EXPLORATORY}"
    if plan.sequential:
        equal = numbered(fewest_equal(plan.sequential.margin), "problem")
        yield (
            f"The results can show a match after {equal} at the earliest, if both configurations have the same result "
            "on each of these problems. Each problem with different results delays the match."
        )
    if not begun:
        yield f"Publish this SHA-256 of the registration before the first call: {registration_hash(plan)}"


def primary_words(plan: Plan, registration: Registration) -> str:
    """``whether A matches B within 10 percentage points``, with labels."""
    named = _labels(plan)
    a, b = (one_line(named[plan.configurations[place].id]) for place in (registration.a, registration.b))
    return f"whether {a} matches {b} {within(registration.margin)} on {numbered(len(plan.problems), 'problem')}"


def deviation_announced(before: Plan, after: Plan) -> str:
    """How a new plan deviates from the registered plan; empty if reports would show no deviation."""
    changed = "; ".join(changes(before, after))
    return (
        changed and f"The new plan deviates from the registered plan, and reports will show this deviation: {changed}."
    )


def changes(before: Plan, after: Plan) -> Iterator[str]:
    """How a plan differs from the one before it."""
    if more := len(after.problems) - len(before.problems):
        yield f"{numbered(more, 'problem')} added"
    known = {configuration.id for configuration in before.configurations}
    if new := [made.id for made in after.configurations if made.id not in known]:
        named = _labels(after)
        yield f"{numbered(len(new), 'configuration')} added ({', '.join(one_line(named[made]) for made in new)})"
    if after.repeats != before.repeats:
        yield f"repeats changed from {before.repeats} to {after.repeats}"
    if after.budget != before.budget:
        usd = ["no limit" if limit is None else money(limit) for limit in (before.budget.usd, after.budget.usd)]
        now = "now" if after.budget.allow_unpriced else "no longer"
        unpriced = f"calls of unknown cost are {now} allowed"
        yield f"budget changed from {usd[0]} to {usd[1]}" if usd[0] != usd[1] else unpriced


def registration_tables(registered: Sequence[Registered]) -> tuple[TextTable, ...]:
    """One table per registered benchmark."""
    several = len(registered) > 1
    return tuple(
        TextTable(f"{TITLE} of {each.benchmark}" if several else TITLE, ("", "planned", "done"), tuple(_rows(each)))
        for each in registered
    )


def registration_numbers(found: Registered) -> Mapping[str, object]:
    """For programs."""
    plan, registration, primary = found.plan, found.registration, found.primary
    matched = None if found.sequential else primary.match
    return {
        "benchmark": found.benchmark,
        "sha256": registration_hash(plan),
        "registered_at": found.plans[0].at,
        "primary": list(found.pair),
        "margin": registration.margin,
        "stopping": registration.stopping,
        "exclusions": registration.exclusions,
        "problems_planned": len(plan.problems),
        "problems": primary.problems,
        "repeats_planned": plan.repeats,
        "complete": primary.complete,
        "difference": primary.difference,
        "low": matched and matched.low,
        "high": matched and matched.high,
        "p": matched and matched.p_verdict,
        "verdict": matched and matched.verdict,
        "sequential": found.sequential and asdict(found.sequential),
        "experiments_saved": found.left and found.left.experiments,
        "usd_saved": found.left and found.left.cost_usd and found.left.cost_usd.p50,
        "deviations": [
            {"at": after.at, "changes": list(changes(before.plan, after.plan))}
            for before, after in pairwise(found.plans)
        ],
    }


def result_words(found: Registered) -> str:
    """The answer to the registered question, not adjusted for exploratory comparisons."""
    if found.sequential:
        return _sequential_words(found.sequential)
    primary, matched = found.primary, found.primary.match
    if matched is None:
        return _NO_RESULT
    so_far = "" if primary.complete else " so far (not all planned experiments have ended)"
    gained = points(primary.difference, matched.low, matched.high)
    p = chance(matched.p_verdict)
    return f"{matched.verdict}{so_far}: {gained} percentage points [95 % score interval], one-sided p {p}"


def _sequential_words(found: Sequential) -> str:
    """With the evidence for what was decided, or for what is nearer."""
    if found.difference is None:
        return _NO_RESULT
    verdict = found.decision or ("undecided" if found.n == found.planned else "undecided so far")
    short = found.decision == "falls short" or (found.decision != "matches" and found.e_short > found.e_match)
    claim, evidence = ("falling short", found.e_short) if short else ("a match", found.e_match)
    gained = points(found.difference, found.low, found.high)
    missing = (
        f"; {numbered(found.missing, 'problem')} with a missing result, which counts as evidence against a match and "
        "as evidence against falling short"
        if found.missing
        else ""
    )
    return (
        f"{verdict} after {found.n} of {numbered(found.planned, 'problem')}: {gained} percentage points [95 % "
        f"confidence sequence], e-value {evidence:.3g} for {claim} (a value of {1 / LEVEL:.0f} or more "
        f"decides the comparison){missing}"
    )


def result_sentence(found: Registered) -> str:
    """The registered question and its answer."""
    question = primary_words(found.plan, found.registration)
    return f"Registered before the first call: {question}. Result: {result_words(found)}."


def _rows(found: Registered) -> Iterator[tuple[str, str, str]]:
    plan, registration, primary = found.plan, found.registration, found.primary
    done = f"{primary.ended} of {numbered(primary.planned, 'experiment')} of both configurations ended"
    errors = f", {primary.errors} with an error" if primary.errors else ""
    among = f" (of the {found.sequential.n} that the stopping rule counts)" if found.sequential else ""
    yield "primary comparison", primary_words(plan, registration), result_words(found)
    yield "problems", str(len(plan.problems)), f"{primary.problems} with a result of both configurations{among}"
    yield "experiments", f"{numbered(plan.repeats, 'repeat')} of each problem", f"{done}{errors}"
    yield "stopping rule", STOPPING[registration.stopping], saved(found.left) or NONE
    yield "exclusions", one_line(registration.exclusions) or "none", NONE
    others = len(found.plans[-1].plan.configurations) - 2
    exploratory = f"exploratory: all comparisons with {numbered(others, 'further configuration')}"
    yield "other comparisons", "none", exploratory if others else "none"
    deviations = [(after.at, "; ".join(changes(before.plan, after.plan))) for before, after in pairwise(found.plans)]
    for at, changed in deviations:
        yield "deviation", NONE, f"{second(at)}: {changed}"
    if not deviations:
        yield "deviations", NONE, "none"
    yield "hash", f"SHA-256 {registration_hash(plan)}", f"registered {second(found.plans[0].at)}"


def _labels(plan: Plan) -> Mapping[str, str]:
    from koderz_core.strategies.labels import labels  # noqa: PLC0415 (all strategies, which most commands do not need)

    return labels(plan.configurations)
