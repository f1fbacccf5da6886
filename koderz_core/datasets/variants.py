"""Variants of a dataset, made by rule: the same problems under the same ids, with other names, words or tests.

A model that solves a problem should solve its ``renamed`` and ``rephrased`` variant as well: Wang et al., "ReCode",
arXiv 2212.10264; Xia, Deng and Zhang, "EvoEval", arXiv 2403.19114. No program that solves a problem passes the tests of
its ``impossible`` variant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache

import msgspec

from koderz_core.datasets.variant_names import renamed
from koderz_core.datasets.variant_tests import impossible
from koderz_core.datasets.variant_texts import rephrased
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.records import OF_VARIANT, VARIANTS, Dataset, DatasetOrigin, LeftOut, Problem, Variant, to_hash

BASES = ("humaneval", "humaneval+", "humaneval+mini", "mbpp", "mbpp+")
"""The datasets with variants: each problem asks for one function, and its tests are asserts."""
RULES: Mapping[Variant, Callable[[Problem], Problem | LeftOut]] = {
    "renamed": renamed,
    "rephrased": rephrased,
    "impossible": impossible,
}


def variant_named(dataset: str, variant: str) -> str:
    """The name of a variant, as ``load`` reads it. Raises UsageError for a dataset without variants."""
    if variant not in VARIANTS:
        raise UnknownNameError("variant", variant, VARIANTS)
    if dataset not in BASES:
        raise UsageError(
            f"The dataset {dataset} has no variants. Only {', '.join(BASES)} have variants: each of their problems "
            "asks for one function and has asserts as tests. Omit the variant, or choose one of these datasets."
        )
    return f"{dataset}{OF_VARIANT}{variant}"


def parted(name: str) -> tuple[str, str]:
    """The name of the dataset and that of its variant, which is "" if the name is not one of a variant."""
    dataset, _, variant = name.partition(OF_VARIANT)
    return dataset, variant


@lru_cache(len(VARIANTS))  # a check of trust needs all variants of a dataset, and each takes some tenths of a second
def varied(dataset: Dataset, variant: Variant) -> Dataset:
    """The variant of a dataset. Problems that the rules cannot change are left out, with the reason."""
    made = [_varied(problem, variant) for problem in dataset.problems]
    problems = tuple(problem for problem in made if isinstance(problem, Problem))
    left_out = (*dataset.left_out, *(problem for problem in made if isinstance(problem, LeftOut)))
    name, base = variant_named(dataset.origin.name, variant), dataset.origin
    return Dataset(DatasetOrigin(name, _hash(base.sha256, problems), base.licence), problems, left_out)


def _varied(problem: Problem, variant: Variant) -> Problem | LeftOut:
    if not problem.canonical_solution:
        return LeftOut(problem.id, "it has no canonical solution, which koderz needs to check a variant")
    return RULES[variant](problem)


def _hash(base: str, problems: tuple[Problem, ...]) -> str:
    """SHA-256 (hex) of the original file and of what the rules made of it, so other rules make another dataset."""
    shown = [(problem.public, problem.tests.source, problem.canonical_solution) for problem in problems]
    return hashlib.sha256(msgspec.json.encode(to_hash((base, shown)))).hexdigest()
