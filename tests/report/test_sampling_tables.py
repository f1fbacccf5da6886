"""Several draws per problem in words: unknown prices, draws that are too few, and the lines of the chart."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs
from test_comparison_tables import row, trials

from koderz_core.analysis.comparison import Comparison, compare
from koderz_core.analysis.extrapolation import FEWEST_DRAWS, FEWEST_PROBLEMS
from koderz_core.analysis.sampling import Sampling, sampling
from koderz_core.records.trials import Trial
from koderz_core.report.charts_sampling import success_by_draws
from koderz_core.report.sampling import REFUSALS, sampling_section

Made = tuple[Comparison, dict[tuple[str, str], Sampling]]


def repeated(name: str, usd: float | None) -> list[Trial]:
    """20 problems, each 4 times; a problem's number decides how often it was solved."""
    (first, *_) = trials(name, 1, usd)
    return [
        structs.replace(first, problem=str(at), repeat=repeat, outcome="solved" if repeat < at % 5 else "unsolved")
        for at in range(20)
        for repeat in range(4)
    ]


def made(usd: float | None, label: str = "many") -> Made:
    """Repeats with this price, and a configuration with one draw per problem."""
    many, once = repeated("many", usd), trials("once", 3, 0.1)
    comparison = compare([replace(row("many", 2, usd), label=label), row("once", 3, 0.1)], [*many, *once])
    return comparison, {("bench", name): sampling(of, samples=False) for name, of in (("many", many), ("once", once))}


def test_a_further_draw_has_a_price_next_to_that_of_a_configuration_without_draws() -> None:
    price = sampling_section(*made(0.5)).tables[-1]
    assert price.title == "Price of one further draw on every problem"
    many, once = (dict(zip(price.columns, line, strict=True)) for line in price.rows)
    assert many["$ per draw [95 %]"] == "$0.50 [0.50, 0.50]"
    assert many["$ per extra solve [95 %]"].startswith("$")
    assert (once["draws"], once["$ per extra solve [95 %]"]) == ("–", "–")
    assert once["$ per solved [95 %]"].startswith("$0.13")


def test_an_unknown_price_is_neither_zero_nor_guessed() -> None:
    many, _ = sampling_section(*made(None)).numbers["further_draws"]
    assert many["gain"] > 0
    assert many["usd_per_draw"] is many["usd_per_extra_solve"] is None


def test_remarks_name_the_configuration_without_draws_and_the_rules_of_a_refusal() -> None:
    assert any("fewer than two draws on most problems: B" in remark for remark in sampling_section(*made(0.5)).remarks)
    assert f"no problem has {FEWEST_DRAWS} or more draws" in REFUSALS["few draws"]
    assert f"fewer than {FEWEST_PROBLEMS} problems have {FEWEST_DRAWS} or more draws" in REFUSALS["few problems"]


def test_the_dashed_lines_continue_the_solid_ones_and_labels_are_no_markup() -> None:
    figure = success_by_draws(*made(0.5, "<b>many"), "experiments", ())
    lines = [line for line in figure.data if line.line.dash in ("solid", "dash")]
    assert [(line.line.dash, line.x[0], line.x[-1]) for line in lines] == [("solid", 1, 4), ("dash", 4, 40)] * 2
    assert all(lines[at].y[-1] == lines[at + 1].y[0] for at in (0, 2))
    assert lines[0].name == "<b>A</b> &lt;b&gt;many"
