"""What has to be said beside the charts and tables of a comparison, on a page and in a report alike."""

from __future__ import annotations

SCRIPTED = "SCRIPTED: some of these answers come from a script, not from a model."
FRONTIER = "Dotted: nobody is both cheaper and better. How sure that is stands below as P(frontier)."
CURVES = (
    "Success in the tests that score, by what had been used. A false pass of the gate ends an experiment and stays in "
    "the denominator, so a curve may stop below 100 % for good; the axis ends at what all had."
)
COSTS = (
    "The $ per solved in parts: of experiments with a result. Calls and cost so far are of all. "
    "Local cost: watts × seconds × price."
)
GROUPS = (
    "Groups: who shares a number cannot be told apart (Holm over all pairs, 5 %); 1 solves most. P(frontier): how "
    "often resampled problems leave it unbeaten in cost and success. $ per solved: dollars of "
    "the experiments with a result by how many of these were solved (cost-of-pass)."
)
PAIRS = (
    "p: exact McNemar, with repeats a sign-flip permutation test, adjusted by Holm; told apart up to 0.05. "
    "Intervals hold for all pairs at once (Bonferroni), so also for the one that was picked out above. "
    "Reaches: the dollars per problem at which its curve is as high; P(never): how often resampled problems never "
    "let it. Saved: on the problems that both solved."
)
