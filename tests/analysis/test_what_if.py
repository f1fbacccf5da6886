"""Policies on recorded attempts: what is replayed, what is refused, and the figures of the study."""

from __future__ import annotations

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from made_trials import once
from msgspec.structs import replace as replace_attempt

import koderz_core
from koderz_core.analysis.draws import About, recorded_attempts, sources_of
from koderz_core.analysis.policies import policies
from koderz_core.analysis.what_if import simulate
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.plan.order import Order, Wanted
from koderz_core.records.attempts import Chain, CoderCall, GateMarks, Mixture, Policy, RecordedAttempt, Source, Stage
from koderz_core.records.trials import id_apart
from koderz_core.report.what_if import numbers, remarks

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import what_if as world  # noqa: E402 (the simulation, a script)

MARKS = {"+": (True, True), "!": (True, False), "-": (False, False)}
"""A right program, a wrong one that passes the gate, and a wrong one that fails it."""


def drawn(problem: str, signs: str, usd: float | None = 1.0) -> Chain:
    return tuple(
        RecordedAttempt(
            benchmark="b",
            configuration="c",
            experiment=f"{problem} {signs}",
            problem=problem,
            repeat=0,
            place=place,
            model="m",
            temperature=0.8,
            code=f"{place}",
            gates={"tests": GateMarks(MARKS[sign][0], int(MARKS[sign][0]), 1)},
            right=MARKS[sign][1],
            error=None,
            fresh=True,
            usd=usd,
            seconds=None,
            tokens=None,
        )
        for place, sign in enumerate(signs, 1)
    )


FIXED = Source("m", "m", 0.8, (("b", "c"),), ("p", "q"), fixed={"p": drawn("p", "-!+"), "q": drawn("q", "+++")})


def retry(tries: int, source: str = "m") -> Policy:
    return Policy(f"retry {source} k={tries}", (Stage(source, tries),), "tests")


@pytest.mark.parametrize(("tries", "solved", "usd"), [(1, 1 / 3, 1), (2, 1 / 2, 4 / 3), (3, 1 / 2, 4 / 3)])
def test_tries_are_means_over_all_orders_of_the_draws(tries: int, solved: float, usd: float) -> None:
    """By hand: of three draws one fails the gate, one passes it wrongly, and one is right."""
    found = simulate(retry(tries), {"m": FIXED}, ["p"]).problems[0].outcome
    assert (found.solved, found.usd) == pytest.approx((solved, usd))


def test_a_chain_that_stopped_is_replayed_in_its_order_and_never_beyond_its_end() -> None:
    """The third draw of a chain was made because two had failed: to shuffle it, or leave it out, would be biased."""
    source = replace(FIXED, fixed={}, chains={"p": (drawn("p", "--+"),), "q": (drawn("q", "---"),)})
    assert [simulate(retry(tries), {"m": source}, ["p", "q"]).solved.value for tries in (1, 2, 3)] == [0, 0, 0.5]
    with pytest.raises(UsageError, match="too few recorded answers on some problems, such as q"):
        simulate(retry(4), {"m": source}, ["p", "q"])


def test_problems_without_planned_attempts_are_left_out_and_named() -> None:
    other = replace(FIXED, name="n", problems=("q", "r"), fixed={"q": drawn("q", "!"), "r": drawn("r", "+")})
    ladder = Policy("ladder", (Stage("m"), Stage("n")), "tests")
    found = simulate(ladder, {"m": FIXED, "n": other}, ["p", "q", "r"])
    assert ([problem.problem for problem in found.problems], found.left_out) == (["q"], ("p", "r"))
    assert simulate(
        retry(2, "n"), {"n": replace(other, fixed={"q": drawn("q", "!+"), "r": drawn("r", "+")})}, ["q", "r"]
    ).left_out == ("r",)


def test_problems_of_one_of_several_datasets_are_named_as_in_their_dataset() -> None:
    p, q = (id_apart("a" * 64, name) for name in "pq")
    source = replace(FIXED, problems=(p, q), fixed={p: drawn(p, "-+"), q: drawn(q, "+")})
    found = simulate(retry(2), {"m": source}, [p, q])
    assert numbers([found])[0]["left_out"] == ["q"]
    assert "1 problem omitted (q)" in " ".join(remarks([found]))
    chains = replace(source, fixed={}, chains={p: (drawn(p, "-"),), q: (drawn(q, "+"),)})
    with pytest.raises(UsageError, match="on some problems, such as p, because"):
        simulate(retry(2), {"m": chains}, [p, q])


@pytest.mark.parametrize("number", [7, 100, 130])
def test_every_draw_comes_first_equally_often(number: int) -> None:
    """So one attempt solves as often as the draws on average, however many they are."""
    signs = "+" + "-" * (number - 1)
    found = simulate(retry(1), {"m": replace(FIXED, fixed={"p": drawn("p", signs)})}, ["p"])
    assert found.solved.value == pytest.approx(1 / number)


def test_no_wrong_program_is_accepted_where_none_was_written() -> None:
    """An imported result is one of a program, even if the file does not contain it."""
    (without,) = (replace_attempt(one, code=None) for one in drawn("p", "-"))
    for attempt, wrong in ((without, 0.0), (replace_attempt(without, reported=True), 1.0)):
        source = replace(FIXED, fixed={"p": (attempt,)})
        found = simulate(replace(retry(1), gate=None), {"m": source}, ["p"])
        assert (found.solved.value, found.accepted_wrong) == (0.0, wrong)


def test_a_label_with_parameters_names_its_configuration() -> None:
    label = "supervised m (checkpoints=False, gate=examples)"
    recorded = replace(FIXED, name=label, recorded={"p": ()})
    (policy,) = policies(f"recorded {label}", {label: recorded}, {})
    assert policy.name == f"recorded {label}"


def test_what_the_records_do_not_tell_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a further answer of .* may be the same"):
        simulate(retry(2), {"m": replace(FIXED, greedy=True)}, ["p"])
    with pytest.raises(UsageError, match="was not run on the tests of the gate examples"):
        simulate(replace(retry(2), gate="examples"), {"m": FIXED}, ["p"])
    with pytest.raises(UsageError, match="the same recorded attempts"):
        simulate(Policy("twice", (Stage("m"), Stage("m")), "tests"), {"m": FIXED}, ["p"])


def test_unknown_costs_stay_unknown_and_dependent_attempts_are_named() -> None:
    source = replace(FIXED, fixed={"p": drawn("p", "+", usd=None), "q": drawn("q", "+")}, why="a review came between")
    found = simulate(retry(1), {"m": source}, ["p", "q"], wrong_usd=1.0)
    assert (found.usd, found.usd_per_solved, found.loss, found.independent) == (None, None, None, False)


def test_a_mixture_has_the_weighted_mean_of_its_policies_and_a_stopping_rule_ends_a_stage() -> None:
    mixed = Mixture("mix", ((0.25, retry(1)), (0.75, retry(3))))
    assert simulate(mixed, {"m": FIXED}, ["p"]).solved.value == pytest.approx(0.25 / 3 + 0.75 / 2)
    source = replace(FIXED, fixed={}, chains={"p": (drawn("p", "---+"),)})
    patient = simulate(replace(retry(4), patience=2), {"m": source}, ["p"])
    assert (patient.attempts, patient.solved.value) == (3, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("retry m k=0", "from 1 to 1000"),
        ("retry m k=2 gate=split", "Unknown gate"),
        ("retry nobody", "Unknown model"),
        ("ladder m k=2", "SMALL"),
        ("retry m k=2 threshold=2", "threshold="),
        ("mix 0.5 retry m | 0.6 retry m k=2", "add up to 1"),
        ("guess m", "is not a policy"),
    ],
)
def test_a_policy_that_cannot_be_read_is_refused_with_what_to_write(text: str, said: str) -> None:
    with pytest.raises((UsageError, UnknownNameError), match=said):
        policies(text, {"m": FIXED}, {})


def test_intervals_hold_the_truth_and_only_tuning_in_hindsight_is_biased() -> None:
    """A thinned version of benchmarks/what_if.py, whose whole grid is in docs/statistics.md."""
    times = 30
    tally = world.run("middle", 18, times, truths=20_000)
    for figure in ("share solved", "dollars with wrong answers", "difference of two policies"):
        held = sum(tally.held[figure]) / times
        assert held > 0.95 - 3 * world._error(tally.held[figure])
        assert abs(sum(tally.apart[figure])) / times < 3 * world._error(tally.apart[figure])
    alike = world.alike(20, times)
    bias = {figure: sum(apart) / times / world._error(apart) for figure, apart in alike.apart.items()}
    assert abs(bias["best, on other folds"]) < 3
    assert bias["best, in hindsight"] < -6


def test_answers_that_the_response_cache_copied_are_not_further_draws(tmp_path: Path) -> None:
    order = Order([Wanted("direct", {"coder": "scripted/weak"})], "0:4", repeats=2)
    with koderz_core.open_workspace(home=tmp_path, cache=True) as opened:
        ids = [opened.runs.run(opened.plans.plan(replace(order, name=name))).benchmark for name in ("one", "two")]
        of = opened.what_if.sources(opened.comparisons.named(ids))
        copied = opened.what_if.sources(opened.comparisons.named(ids[1:]))
    assert sorted(attempt.cached for attempt in of.attempts) == [False] * 8 + [True] * 8
    for source in (next(source for source in found.sources.values() if not source.recorded) for found in (of, copied)):
        assert [len(drawn) for drawn in source.fixed.values()] == [2] * 4
    (configuration,) = {row.configuration for row in of.rows}  # its id alone does not name one of the two
    assert (set(of.aliases), set(copied.aliases)) == ({"A", "B"}, {"A", configuration})
    assert [of.recorded(benchmark, configuration) for benchmark in ids] == [of.aliases["A"], of.aliases["B"]]


def test_an_experiment_that_no_call_fitted_is_an_attempt_without_a_program() -> None:
    """Otherwise one prompt that is too long would hide all draws of the model."""
    asked, unasked = (replace_attempt(trial, code="1" if trial.solved else None) for trial in once("c", [1, 0]))
    call = CoderCall(asked.experiment, "m", 0.8, "prompt", True, 1.0, 2.0, 3)
    trials = {("bench", "c"): [asked, unasked]}
    about = {("bench", "c"): About("direct m", "direct", "tests", "m", True)}
    attempts = recorded_attempts(trials, [call], about)
    source = sources_of(attempts, trials, about)["m@0.8"]
    assert [[one.right for one in drawn] for drawn in source.fixed.values()] == [[True], [False]]


def test_the_figures_of_the_study_come_out(tmp_path: Path) -> None:
    """Of 60 problems, the better of both models solves 43, the replayed ladder 42, and the best single model 38."""
    (tmp_path / "journals").mkdir()
    packed = ROOT / "docs/study/journals/bench_20a02f27b685.jsonl.gz"
    (tmp_path / "journals" / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    with koderz_core.open_workspace(home=tmp_path) as opened:
        of = opened.what_if.sources(opened.comparisons.named(["study60"]))
        texts = ("retry 0.5b", "retry 1.5b", "ladder qwen-0.5b>qwen-1.5b gate=examples", "retry D k=2", "recorded C")
        small, large, ladder, repair, escalation = (
            opened.what_if.simulate(opened.what_if.policies(text, of)[0], of) for text in texts
        )
    pairs = zip(small.problems, large.problems, strict=True)
    both = [max(first.outcome.solved, second.outcome.solved) for first, second in pairs]
    solved = [round(60 * item.solved.value, 6) for item in (large, ladder, escalation)]
    assert (sum(both), *solved) == (43, 38, 42, 42)
    assert [item.independent for item in (ladder, repair)] == [True, False]
    assert (ladder.simulated, escalation.simulated) == (True, False)
