"""The parts of the page What if: the headroom of a choice per problem, and simulated policies with their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import UsageError
from koderz_core.records.progress import SummaryRow
from koderz_core.report.charts import file_subject
from koderz_core.report.charts_frontier import View, has_costs
from koderz_core.report.charts_headroom import complementarity_alt, complementarity_chart, headroom_alt, headroom_chart
from koderz_core.report.charts_what_if import CAPTION, placed, what_if_alt, what_if_chart
from koderz_core.report.formats import money
from koderz_core.report.headroom import headroom_section
from koderz_core.report.what_if import numbers, policies_tables, remarks
from koderz_core.workspace.comparisons import Comparison
from koderz_core.workspace.repricing import repriced, repricing
from koderz_core.workspace.what_if import Simulated, Sources, Tuned
from pages.ui.address import choice, scale
from pages.ui.comparison import Compared
from pages.ui.frame import show_remarks
from pages.ui.slow_results import cached, is_many, names_of, prepare
from pages.ui.tables import frame, show_numbers, show_picture, show_words

ABOUT_HEADROOM = (
    "Each row is a rule that chooses a configuration for each problem. The mark shows the difference between the "
    "success rate of this rule and the success rate of the best single configuration, with a paired 95 % interval; the "
    "intervals of all rules hold simultaneously. The bold number is the share of problems solved. Hollow marks are "
    "oracles, which choose configurations with knowledge of the results. A gain in the shaded area is too small to be "
    "detected with this number of problems, even if the chosen configurations solve every problem that the best single "
    "configuration solves."
)
ABOUT_CELLS = (
    "Number of problems solved by the configuration of the row, but not by the configuration of the column. The best "
    "configurations come first."
)
TRIES = (1, 2, 3, 5, 8, 10, 20, 50, 100)
NO_MODEL, RECORDED = "no second model", "as recorded"
WRONG = ("0", "1", "3", "10", "30", "100", "300")
WATTS = (RECORDED, "15", "30", "65", "150", "300", "700")
KWH = (RECORDED, "0.05", "0.10", "0.15", "0.30", "0.50")
FIRST = (
    "A policy is a rule that says which models to ask, in which order and how often. How many problems would policies "
    "other than the recorded configurations have solved, and at what cost? koderz simulates these policies from "
    "recorded attempts and calls no model."
)


def show_headroom(workspace: Workspace, rows: Sequence[SummaryRow]) -> None:
    """The sentence comes first; refusals are sentences as well."""
    found = cached(workspace, rows, workspace.uncertainty.headroom)
    section = headroom_section(rows, found)
    first, *others = section.remarks
    if found.why:
        st.info(first, icon="🧭")
        return
    st.markdown(f"**{first.replace('[', chr(92) + '[')}**")  # our words and numbers
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show_picture(headroom_chart(found), "headroom", headroom_alt(found), rows[0].benchmark)
        st.caption(ABOUT_HEADROOM)
        choices = section.listing("choices")
        show_numbers("headroom", "Headroom", frame(choices.table), choices.numbers)
    with right:
        alt = complementarity_alt(rows, found)
        show_picture(complementarity_chart(rows, found), "complementarity", alt, rows[0].benchmark)
        st.caption(ABOUT_CELLS)
        members = section.listing("configurations")
        show_numbers("complementarity", "Complementarity", frame(members.table), members.numbers)
    show_remarks(others, "about headroom")


@dataclass(frozen=True, slots=True)
class Asked:
    """``texts``: of policies, the first for comparison. ``wrong``: price of a wrong answer, in dollars."""

    texts: tuple[str, ...]
    wrong: float
    watts: float | None
    kwh: float | None


@dataclass(frozen=True, slots=True)
class Replay:
    """The simulated policies that were ``asked`` for, and the recorded configurations under the same prices."""

    asked: Asked
    comparison: Comparison
    found: tuple[Simulated, ...]
    tuned: Tuned | None


def show_policies(workspace: Workspace, compared: Compared, about: str) -> None:
    """Controls, whose values the address holds; below them the chart, the table and what limits them."""
    st.text(FIRST)
    rows = compared.chosen
    try:
        sources = cached(workspace, rows, workspace.what_if.sources)
        asked = _asked(sources, compared.comparison)
        replay = _replayed(workspace, rows, asked)
    except UsageError as refusal:  # it may quote names of a journal
        show_remarks([str(refusal)], "refusal")
        return
    if replay:
        _draw(replay, about)


def _asked(sources: Sources, comparison: Comparison) -> Asked:
    drawn = {name: source for name, source in sources.sources.items() if not source.recorded}
    names = sorted(drawn, key=lambda name: (drawn[name].greedy, not drawn[name].independent)) or list(sources.sources)
    with st.container(horizontal=True, key="policy"):
        model = choice("model", "Model", names)
        then = choice(
            "then", "Model to ask if no program passes the gate", [NO_MODEL, *(name for name in names if name != model)]
        )
        gate = choice("gate", "Gate", sources.gates) if len(sources.gates) > 1 else ""
    with st.container(horizontal=True, key="sliders"):
        most = _most_tries(sources, model)
        tries = [str(number) for number in TRIES if number <= most]
        last = int(scale("tries", "Attempts", {number: number for number in tries})) if len(tries) > 1 else 1
        wrong = _wrong(comparison)
        watts, kwh = _energy(comparison)
    own = {row.key for row in sources.rows}  # without a baseline of another benchmark
    best = max((row for row in comparison.configurations if row.key in own), key=lambda row: row.share or 0.0)
    first = sources.recorded(best.benchmark, best.configuration)
    ending = f" gate={gate}" if gate else ""
    texts = [f"recorded {first}"] if first else []
    texts += [f"retry {model} k={number}{ending}" for number in map(int, tries) if number <= last]
    if then != NO_MODEL:
        texts += [f"ladder {model}*{number}>{then}{ending}" for number in dict.fromkeys((1, last))]
    return Asked(tuple(texts), wrong, watts, kwh)


def _most_tries(sources: Sources, model: str) -> int:
    """The longest recorded row of draws on a problem; 1 if a further draw would be the same."""
    source = sources.sources[model]
    if source.greedy:
        return 1
    lengths = [len(drawn) for drawn in source.fixed.values()]
    lengths += [len(chain) for several in source.chains.values() for chain in several]
    return max(lengths, default=1)


def _wrong(comparison: Comparison) -> float:
    """Dollars; the scale is in costs of the best configuration, so it fits cheap and expensive models."""
    usd = [point.usd for point in comparison.tradeoff.points if point.usd]
    if not usd:
        return 0.0
    unit = max(usd)
    labels = {times: money(int(times) * unit) if int(times) else "$0" for times in WRONG}
    return int(scale("wrong", "Price of a wrong answer", labels, WRONG[0])) * unit


def _energy(comparison: Comparison) -> tuple[float | None, float | None]:
    """Watts and price of electricity, if a local model was used; None: as recorded."""
    if not any(tier.tier == "local" for row in comparison.configurations for tier in row.tiers):
        return None, None
    watts = scale("watts", "Power of this machine", _with_unit(WATTS, "{} W"), RECORDED)
    kwh = scale("kwh", "Price of electricity", _with_unit(KWH, "${} per kWh"), RECORDED)
    return (None if watts == RECORDED else float(watts)), (None if kwh == RECORDED else float(kwh))


def _with_unit(values: Sequence[str], form: str) -> Mapping[str, str]:
    return {value: value if value == RECORDED else form.format(value) for value in values}


def _replayed(workspace: Workspace, rows: Sequence[SummaryRow], asked: Asked) -> Replay | None:
    """None while many experiments are replayed behind a line of text."""

    def replay(rows: Sequence[SummaryRow], asked: Asked) -> Replay:
        benchmarks = sorted({row.benchmark for row in rows})
        how = repricing(None, asked.watts, asked.kwh)
        other = nullcontext(workspace) if asked.watts is asked.kwh is None else repriced(workspace, benchmarks, how)
        with other as opened:
            sources = opened.what_if.sources(rows)
            policies = [policy for text in asked.texts for policy in opened.what_if.policies(text, sources)]
            found = tuple(opened.what_if.simulate(policy, sources, asked.wrong) for policy in policies)
            several = asked.wrong > 0 and len(policies) > 1
            tuned = opened.what_if.tune(found) if several else None
            return Replay(asked, opened.comparisons.compare(rows, None, (), trust=False), found, tuned)

    work = partial(cached, workspace, rows, replay, asked)
    if not is_many(rows):
        return work()
    found = prepare(f"policies on {names_of(rows)}", work, _show_waiting)
    return found if found is None or found.asked == asked else work()  # the settings changed while it ran


def _show_waiting() -> None:
    st.caption("The simulated policies appear here automatically.")


def _draw(replay: Replay, about: str) -> None:
    solved, spent = policies_tables(replay.found, replay.tuned)
    comparison, alt = replay.comparison, what_if_alt(replay.found)
    if has_costs(comparison) and placed(replay.found):
        with st.container(key="pictures"):
            for narrow in (False, True):
                figure = what_if_chart(comparison, replay.found, View(about, narrow=narrow))
                variant = "-narrow" if narrow else ""
                with st.container(key=f"picture{variant or '-wide'}"):
                    show_picture(figure, "what-if", alt, file_subject(comparison), variant)
        st.caption(CAPTION)
    else:
        st.info("Costs are unknown or 0, so there is no chart of cost against success.", icon="🏷️")
    for table in (solved, spent):
        st.caption(table.title.replace("$", r"\$"))
        show_words(table)
    show_numbers("what-if", alt, frame(solved), numbers(replay.found, replay.tuned))
    show_remarks(remarks(replay.found, replay.tuned), "about policies")
