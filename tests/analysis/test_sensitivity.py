"""What a plan can show, and what that is known from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from koderz_core.analysis.noninferiority import Prospect, prospect
from koderz_core.analysis.power import detectable, expected, observed_discordance
from koderz_core.records import Configuration, DatasetOrigin, Plan
from koderz_core.records.progress import PastPair
from koderz_core.records.registrations import Registration
from koderz_core.report.forecasts import can_show

QWEN, OPUS, SCRIPT = ({"coder": (name,)} for name in ("ollama/qwen", "anthropic/opus", "scripted/weak"))
PAIR = (Configuration("repair", QWEN), Configuration("direct", OPUS))
PAST = PastPair(("direct", "repair"), (OPUS, QWEN), 60, 8, None)
OTHERS = replace(PAST, strategies=("direct", "direct"), discordant=20)


def plan(problems: int = 164, repeats: int = 1, configurations: tuple[Configuration, ...] = PAIR) -> Plan:
    names = tuple(f"HumanEval/{number}" for number in range(problems))
    return Plan(DatasetOrigin("humaneval+", "a" * 64, "MIT"), names, configurations, repeats=repeats)


def test_without_any_past_a_quarter_is_assumed_and_the_sentence_says_where_that_is_from():
    assert can_show(plan(), []) == (
        "With 164 problems, a difference below 8.2 percentage points will usually not be detected; a difference of 11 "
        "points is detected with a probability of 80 %. If a configuration is exactly as good as the baseline, the "
        "benchmark shows with a probability of 71 % that this configuration matches the baseline within 10 percentage "
        "points; a probability of 80 % requires 202 problems. These numbers assume that two configurations differ on "
        "about 25 % of the problems, as in koderz' own study (23 to 25 %). koderz uses this study because no two "
        "comparable configurations have results on enough problems of humaneval+."
    )


def test_pairs_of_the_same_strategies_and_models_tell_before_all_others():
    same = expected(plan(), [PAST, OTHERS, OTHERS])
    assert (same.discordance, same.pairs, same.same) == (observed_discordance(8, 60), 1, True)
    assert (
        "as did one earlier pair of configurations with the strategies and models of this plan on humaneval+."
        in can_show(plan(), [PAST, OTHERS])
    )


def test_otherwise_the_median_of_all_pairs_on_the_dataset_is_taken():
    past = [replace(OTHERS, discordant=number) for number in (6, 14, 40)]
    found = expected(plan(), past)
    assert (found.discordance, found.pairs, found.same) == (observed_discordance(14, 60), 3, False)
    assert can_show(plan(), past).endswith(
        "These numbers assume that two configurations differ on about 25 % of the problems. This share is the median "
        "of 3 earlier pairs of configurations on humaneval+."
    )


def test_scripted_models_tell_nothing_of_a_plan_with_real_ones_and_the_other_way_round():
    scripted = replace(OTHERS, models=(SCRIPT, SCRIPT), discordant=0)
    assert expected(plan(), [scripted]).pairs == 0
    assert expected(plan(), [scripted, OTHERS]).discordance == observed_discordance(20, 60)
    with_script = plan(configurations=(Configuration("direct", SCRIPT), PAIR[0]))
    assert expected(with_script, [scripted, OTHERS]).discordance == observed_discordance(0, 60)


def test_what_repeats_gain_is_taken_from_earlier_repeats():
    past = [replace(PAST, from_chance=share) for share in (0.3, 0.5, 0.9)]
    assert can_show(plan(repeats=5), past).endswith(
        "These numbers also assume that 5 repeats reduce the variance of a difference by 40 %, as measured on the "
        "repeats of 3 earlier pairs of configurations."
    )
    assert "repeats" not in can_show(plan(), past)


def test_without_earlier_repeats_no_gain_is_assumed_and_the_most_there_could_be_is_said():
    said = can_show(plan(repeats=5), [])
    assert said.startswith("With 164 problems and 5 repeats, a difference below 8.2 percentage points will usually not")
    assert said.endswith(
        "These numbers also assume that repeats bring no gain in precision, because this gain was not "
        "measured on any earlier pair of configurations; with the largest possible gain in precision, "
        "the two differences stated above would be 3.5 and 5 percentage points."
    )


def test_what_a_plan_can_show_of_a_match_grows_with_problems_and_shrinks_with_pairs():
    assert prospect(60, 1, 0.25, 1.0).chance == pytest.approx(0.31, abs=0.006)
    assert prospect(60, 3, 0.25, 1.0) == Prospect(pytest.approx(0.17, abs=0.006), 271)
    assert prospect(60, 1, 0.25, 0.5) == Prospect(prospect(120, 1, 0.25, 1.0).chance, 101)
    assert "that this configuration matches the baseline within 10 percentage points. These" in can_show(plan(202), [])


def test_of_a_registered_plan_the_chance_is_that_of_its_primary_comparison_within_its_margin():
    three = plan(configurations=(*PAIR, Configuration("direct", QWEN)))
    said = can_show(replace(three, registration=Registration(0, 1, 0.05)), [])
    assert (
        "If the configuration of the primary comparison is exactly as good as the baseline, the benchmark shows with a "
        "probability of 24 % that this configuration matches the baseline within 5 percentage points; a probability of "
        "80 % requires 792 problems. These numbers"
    ) in said
    tiny = can_show(replace(three, registration=Registration(0, 1, 0.0001)), [])
    assert "within 0.01 percentage points; a probability of 80 % requires more problems." in tiny


def test_of_a_sequential_plan_it_says_that_its_rule_shows_a_match_less_often():
    found = [
        can_show(replace(plan(), registration=Registration(0, 1, 0.1, rule)), []) for rule in ("fixed", "sequential")
    ]
    assert [["a match less often" in said, "stated above do not apply" in said] for said in found] == [
        [False, False],
        [True, True],
    ]


@pytest.mark.parametrize("repeats", [1, 5])
def test_a_plan_of_5_problems_shows_nothing(repeats):
    assert can_show(plan(5, repeats), []).endswith("no difference can be statistically significant.")
    assert can_show(plan(1), []).startswith("With 1 problem, no difference")


@pytest.mark.parametrize("n", [6, 7, 10, 2000])
def test_the_sentence_never_speaks_of_more_than_all_problems(n):
    assert "e+" not in can_show(plan(n), [])


def test_with_many_configurations_a_difference_must_be_larger_to_be_seen():
    six = plan(configurations=tuple(Configuration("direct", {"coder": (f"ollama/{place}",)}) for place in range(6)))
    least = 100 * detectable(164, 0.25, alpha=0.05 / 5)
    found = f"of {least:.2g} points is detected with a probability of 80 %. These numbers apply to the comparison of 5 "
    assert f"{found}configurations with one baseline." in can_show(six, [])
