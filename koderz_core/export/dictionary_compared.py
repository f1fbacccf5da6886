"""The data dictionary of what is compared: configurations, and pairs with the baseline."""

from __future__ import annotations

from koderz_core.export.dictionary_wording import SAW_BASE_TESTS, Column, number, said, spread, text, usd, whole, yes

_NO_RESULT = "no experiment has a result"
_NO_PRICE = "no result, a price is not known, or see `usd_per_solved_is`"
_NO_CEILING = "no program was put to both kinds of tests"
_NO_REVIEW = "no checkpoint reviewed anything"
_NOT_BOTH = "no problem was given to both"
_REACHED = "`reached`, `never`, `no_target` (the baseline solved nothing) or `unknown`"

COMPARISON: tuple[Column, ...] = (
    text("letter", "what the configuration is called in this comparison"),
    text("benchmark", "id of the benchmark"),
    text("configuration", "id of the configuration"),
    text("label", "the configuration in short"),
    text("strategy", "name of the strategy"),
    text("tier", "highest tier that answered a call", "no call yet"),
    yes("scripted", "whether some answers come from a script, so that they show nothing about models"),
    text("score_kind", "`held_out`; `oracle` if the loop stopped on the tests that score it; `mixed`", _NO_RESULT),
    whole("oracle_problems", "problems with a result that are scored as `oracle`", _NO_RESULT, "problems"),
    yes("saw_base_tests", SAW_BASE_TESTS),
    whole("planned", "experiments that were planned"),
    whole("n", "experiments with a result: solved and unsolved"),
    whole("solved", "experiments solved"),
    whole("unsolved", "experiments unsolved"),
    whole("errors", "experiments that ended as our or the provider's error; no rate counts them"),
    whole("cancelled", "experiments that somebody or the benchmark's budget stopped; no rate counts them"),
    whole("running", "experiments that somebody is at now"),
    whole("not_ended", "planned experiments that have not ended, the running ones among them"),
    *spread("share", "share solved of `n`; interval by Wilson, with repeats clustered by problem", _NO_RESULT),
    number(
        "share_worst", "share solved of `planned` if none without a result was solved", "nothing is planned", "share"
    ),
    number(
        "share_best", "share solved of `planned` if all without a result were solved", "nothing is planned", "share"
    ),
    text("groups", "numbers of its rank groups, 1 the best: who shares one cannot be told apart; may be empty"),
    *spread("usd_per_solved", "dollars of the experiments with a result by how many were solved", _NO_PRICE, "USD"),
    *map(said, ("usd_per_solved", "usd_per_solved_low", "usd_per_solved_high")),
    usd("usd_per_experiment", "mean dollars of those that ended", "a price is not known, or see the next"),
    said("usd_per_experiment"),
    usd("cost_usd", "dollars of all its calls so far"),
    usd("rental_usd", "what its calls to local models would have cost where the same weights are rented", "not known"),
    number("seconds_per_experiment", "mean duration of those that ended", "none has ended", "s"),
    number("mean_iterations", "mean iterations of the solved and unsolved", _NO_RESULT),
    usd("usd_per_problem", "mean dollars per problem, on the problems that all have a result of", "not comparable"),
    usd("usd_per_problem_low", "lower end of the 95 % interval of `usd_per_problem`", "not comparable"),
    usd("usd_per_problem_high", "upper end of the 95 % interval of `usd_per_problem`", "not comparable"),
    yes("on_frontier", "whether nothing here is both cheaper and better", "not comparable"),
    number("frontier_probability", "share of resamples that leave it unbeaten", "not comparable", "share"),
    *spread("ceiling", "P(held-out tests pass if the gate passes): the ceiling of trying on", _NO_CEILING),
    *spread("false_positives", "P(gate passes though held-out tests fail)", _NO_CEILING),
    whole("solved_before_help", "solved before the first checkpoint", _NO_REVIEW),
    whole("solved_after_help", "solved after it", _NO_REVIEW),
    whole("never_solved", "not solved", _NO_REVIEW),
    number("frontier_share_of_usd", "dollars that went to models of the frontier tiers", "unknown, or none", "share"),
    number("frontier_share_of_tokens", "tokens that went to models of the frontier tiers", "unknown, or none", "share"),
)

PAIRS: tuple[Column, ...] = (
    text("letter", "what the configuration is called in this comparison"),
    text("configuration", "the configuration, as benchmark/configuration"),
    text("baseline", "what it is held against, as benchmark/configuration"),
    whole("n", "problems with a result of both", "", "problems"),
    whole("unpaired", "problems with a result of only one, left out", "", "problems"),
    whole("both", "problems that both solved, with repeats equally often", "", "problems"),
    whole("only_a", "problems that only the configuration solved, or more often", "", "problems"),
    whole("only_b", "problems that only the baseline solved, or more often", "", "problems"),
    whole("neither", "problems that neither solved", "", "problems"),
    number("difference", "share solved less the baseline's", "`n` is 0", "share"),
    number(
        "low",
        "lower end of the interval of `difference` (Bonett-Price, compatible with `told_apart`)",
        "`n` is 0",
        "share",
    ),
    number("high", "its upper end; an end of 0 is itself left out if `told_apart`", "`n` is 0", "share"),
    number("p", "two-sided p of `method`", "`n` is 0"),
    text("method", "`exact McNemar`, with repeats `label permutation`"),
    number("p_adjusted", "p adjusted by Holm over all pairs", "`n` is 0"),
    whole("missing", "experiments of the two without a result, on problems that both were given"),
    number(
        "p_worst",
        "the largest `p_adjusted` that the missing results allow; above 0.05 perhaps not the largest",
        "`n` is 0",
    ),
    number("difference_worst", "`difference` with its missing unsolved and the baseline's solved", _NOT_BOTH, "share"),
    number("difference_best", "`difference` with its missing solved and the baseline's unsolved", _NOT_BOTH, "share"),
    yes("told_apart", "whether `p_adjusted` and `p_worst` are at most 0.05", "`n` is 0"),
    *spread("price_ratio", "dollars per solved problem by the baseline's", "not known", "times"),
    *map(said, ("price_ratio", "price_ratio_low", "price_ratio_high")),
    whole("pairs_at_once", "how many pairs the intervals hold for at once (Bonferroni)"),
    usd("break_even_usd", "dollars per problem at which it solves as many as the baseline", "see the next"),
    text("break_even_is", f"{_REACHED}: whether there is such a price"),
    usd("break_even_low", "lower end of the interval of `break_even_usd`", "see the next"),
    text("break_even_low_is", f"{_REACHED}: what the lower end is"),
    usd("break_even_high", "upper end of the interval of `break_even_usd`", "see the next"),
    text("break_even_high_is", f"{_REACHED}: what the upper end is"),
    number("break_even_never", "share of resamples in which it never solves as many", "not known", "share"),
    whole(
        "saved_problems", "problems that both solved, which the next six are about", "nothing to compare", "problems"
    ),
    *spread("saved_usd", "mean dollars that it spent less than the baseline on each", "nothing to compare", "USD"),
    *spread("saved_share", "`saved_usd` by the baseline's dollars", "nothing to compare, or a free baseline"),
)
