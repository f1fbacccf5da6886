"""A fitted selector as tables and sentences: its baselines, its calibration and what it may be used for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from koderz_core.analysis.selector_value import BETTER, NOTHING, OffPolicy
from koderz_core.records.plans import SCRIPTED
from koderz_core.records.selectors import Calibration, Estimate, Selector
from koderz_core.report.formats import TextTable, money, percent, points_of

COUNTERFACTUAL = "simulated: computed from recorded results, without new calls"


def card_table(selector: Selector) -> TextTable:
    """Each rule with its success, cost, regret, gain and area, on folds that it was not fitted on."""
    gain, quality = "gain over the best single model", "average improvement in quality (AIQ)"
    columns = ("rule", "solved", "cost per problem", "regret relative to the oracle", gain, quality)
    rows = tuple(
        (
            row.rule,
            _share(row.solved),
            money(row.usd),
            points_of(row.regret),
            points_of(row.gain),
            "–" if row.area is None else f"{row.area:.3f}",
        )
        for row in selector.card.judged
    )
    return TextTable(f"Rules, evaluated by cross-validation ({COUNTERFACTUAL})", columns, rows)


def value_table(values: Mapping[str, OffPolicy]) -> TextTable:
    """The off-policy value of each rule, with its effective sample size."""
    rows = tuple(
        (rule, _share(value.solved), str(value.choices), str(value.problems), f"{value.effective:.1f}")
        for rule, value in values.items()
    )
    columns = ("rule", "solved (doubly robust)", "choices", "problems", "effective sample size")
    return TextTable(f"Off-policy value ({COUNTERFACTUAL})", columns, rows)


def card_sentences(selector: Selector) -> Iterator[str]:
    """The verdict, the data, the folds and the calibration. Names of models and benchmarks are hostile text."""
    card = selector.card
    if card.scripted:
        yield SCRIPTED
    yield _verdict(selector)
    yield (
        f"{selector.id}: models {', '.join(selector.models)}. Fitted to {card.problems} problems, evaluated by "
        f"cross-validation with {card.folds} folds (near-duplicate problems in the same fold, seed {card.seed}). "
        f"Ridge penalty {card.penalty:g}."
    )
    yield f"Before a call: {_calibration(card.before)}"
    if selector.after is None or card.after is None:
        yield (
            "After an answer: no predictions of success, because too few tested programs have results of "
            "held-out tests."
        )
    else:
        yield f"After an answer that was tested with the gate {selector.after.gate}: {_calibration(card.after)}"
    for why, count in card.left_out.items():
        yield f"Omitted: {count} {why}."
    yield f"Data: {'; '.join(card.configurations)}."


def _verdict(selector: Selector) -> str:
    card = selector.card
    numbers = (
        f"Headroom: {100 * card.headroom.value:.1f} percentage points between the best single model and the oracle. "
        f"With {card.problems} problems, only gains of at least {100 * card.detectable:.1f} points can be detected."
    )
    if card.verdict == BETTER:
        return f"The selector is significantly better than the best single model. {numbers}"
    if card.verdict == NOTHING:
        return f"Nothing to learn: use the best single model. {numbers}"
    return f"Undecided: no significant gain over the best single model. {numbers}"


def _calibration(found: Calibration) -> str:
    auc = "unknown" if found.auc is None else f"{found.auc:.2f}"
    return (
        f"{found.predictions} predictions of success in cross-validation, "
        f"expected calibration error {found.ece:.3f}, AUC {auc}."
    )


def _share(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return percent(found.value)
    return f"{100 * found.value:.1f} % [{100 * max(0.0, found.low):.0f}, {100 * min(1.0, found.high):.0f}]"
