"""Fitted selectors: fit one to recorded benchmarks, keep it in the data folder, and let experiments ask it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from koderz_core.analysis import selector_fit
from koderz_core.analysis.selector import answer_features, loss, probabilities, probability_right, propensities
from koderz_core.analysis.selector_value import OffPolicy
from koderz_core.config import Settings
from koderz_core.errors import DataError, PlanError, UnknownNameError, UsageError
from koderz_core.files import replace_file
from koderz_core.memory.leak_guard import twins
from koderz_core.records import Asker, Configuration, Memory, Problem, PublicProblem, Query
from koderz_core.records.selectors import Selector
from koderz_core.workspace.comparisons import Comparisons
from koderz_core.workspace.selector_evidence import gather, recorded_choices, values

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", re.ASCII)


@dataclass(frozen=True)
class Selectors:
    """Fits, reads and asks selectors. ``problem``: a problem by the names of its dataset and of itself, or None."""

    settings: Settings
    comparisons: Callable[[], Comparisons]
    problem: Callable[[str, str], Problem | None]

    def fit(self, names: Sequence[str], name: str, seed: int = 0) -> Selector:
        """Fit a selector to these benchmarks or configurations and keep it; an earlier one of this name stays readable.

        Raises UsageError (too few results, or no scikit-learn), UnknownNameError, StoreError, DataError.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is not a valid name of a selector. Use letters, digits, dots, dashes and underscores."
            )
        selector_fit.require_sklearn()
        comparisons = self.comparisons()
        rows = comparisons.named(names)
        evidence = gather(rows, comparisons.trials_of_each(rows), self.problem)
        selector = selector_fit.fit(name, evidence, seed)
        try:
            replace_file(self.settings.home / "selectors" / f"{selector.id}.json", msgspec.json.encode(selector))
        except OSError as error:
            raise DataError(f"The selector {name} cannot be written ({error.strerror}).") from error
        return selector

    def names(self) -> tuple[str, ...]:
        """Return the ids of all selectors, the newest first."""
        files = sorted((self.settings.home / "selectors").glob("*@*.json"), key=lambda file: -file.stat().st_mtime)
        return tuple(file.stem for file in files)

    def load(self, name: str = "") -> Selector:
        """Return a selector by its id or its name; of several with one name, the newest. Without a name, the newest.

        Raises UnknownNameError, DataError.
        """
        found = [known for known in self.names() if name in ("", known, known.partition("@")[0])]
        if not found:
            hint = "Fit a selector: koderz selector fit BENCHMARK --name NAME"
            raise UnknownNameError("selector", name, self.names(), hint)
        file = self.settings.home / "selectors" / f"{found[0]}.json"
        try:
            selector = msgspec.json.decode(file.read_bytes(), type=Selector)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
            raise DataError(f"The selector {file} cannot be read: {error}. Fit it again.") from error
        if selector.id != found[0]:
            raise DataError(
                f"The selector {file} was changed after it was fitted: its content does not match the hash in its "
                "file name. Fit it again."
            )
        return selector

    def value(self, name: str, benchmarks: Sequence[str]) -> Mapping[str, OffPolicy]:
        """Return the value of a selector and its baselines by the choices of exploring routers in these benchmarks.

        Raises as ``load`` and ``selector_evidence.values``.
        """
        rows = self.comparisons().named(benchmarks)
        choices = list(recorded_choices(rows, self.settings.journals_dir, self.problem))
        return values(self.load(name), choices)

    def check(self, configuration: Configuration, problems: Sequence[PublicProblem]) -> None:
        """Raise PlanError if a selector cannot choose for a configuration, or was fitted to one of its problems."""
        name = str(configuration.parameters.get("selector", ""))
        if not name:
            raise PlanError(
                "The router strategy needs a fitted selector. Write coder=select:learned or coder=select:learned=NAME."
            )
        selector, coders = self.load(name), configuration.models["coder"]
        if lacking := [model for model in coders if model not in selector.models]:
            raise PlanError(
                f"The selector {name} was not fitted to results of {', '.join(lacking)}, but only to results of "
                f"{', '.join(selector.models)}."
            )
        if configuration.parameters.get("error_usd"):
            unpriced = [model for model, usd in zip(selector.models, selector.usd, strict=True) if usd is None]
            if known := [model for model in coders if model in unpriced]:
                raise PlanError(f"The selector {name} contains no price for {', '.join(known)}. Omit error_usd.")
        if configuration.parameters.get("checks"):
            if not configuration.parameters.get("error_usd"):
                raise PlanError(
                    "The parameter `checks` needs the price of a wrong answer in dollars, for example error_usd=0.01."
                )
            _check_after(selector, configuration.gate)
        if seen := sorted({problems[at].id for at, _ in twins(problems, selector.seen)}):
            more = f" and {len(seen) - 5} more" if len(seen) > 5 else ""
            raise PlanError(
                f"The selector {name} was fitted to {len(seen)} of the planned problems, or to near-duplicates of "
                f"them: {', '.join(seen[:5])}{more}. Choose other problems, or fit a selector to other benchmarks."
            )

    def recall(self, query: Query, asker: Asker) -> Sequence[Memory]:
        """Answer the query of a `router`: a ranking of its coders, or P(right) of a tested program.

        Raises DataError.
        """
        try:
            selector = self.load(query.tags["selector"])
            if "iteration" in query.tags:
                return _judgement(selector, query)
            problem = self.problem(asker.dataset.name, asker.problem)
            if problem is None:
                return []
            return _ranking(selector, problem.public, query, asker)
        except UsageError as error:
            raise DataError(str(error)) from error


def _check_after(selector: Selector, gate: str) -> None:
    if selector.after is None:
        raise PlanError(
            f"The selector {selector.name} cannot judge programs, because the benchmarks that it was fitted to contain "
            "too few programs with both gate and held-out results. Omit `checks`, or also fit the selector to "
            "benchmarks with the strategy ladder, retry or repair."
        )
    if selector.after.gate != gate:
        raise PlanError(
            f"The selector {selector.name} can judge only programs that were tested with the gate "
            f"{selector.after.gate}, but this configuration uses the gate {gate}. Write gate={selector.after.gate}."
        )


def _ranking(selector: Selector, problem: PublicProblem, query: Query, asker: Asker) -> list[Memory]:
    """The asker's coders, the smallest expected loss first; ``member`` is the place in its configuration."""
    coders, error_usd, seed = asker.models["coder"], float(query.tags["error_usd"]), query.tags["seed"]
    dataset = asker.dataset.name
    places = [selector.models.index(model) for model in coders]
    (every,) = probabilities(selector.before, [problem], [dataset], len(selector.models))
    p = [float(every[place]) for place in places]
    usd = [selector.usd[place] for place in places]
    order = sorted(range(len(coders)), key=lambda at: (loss(p[at], usd[at], error_usd), usd[at] or 0.0))
    shares = [float(at == order[0]) for at in range(len(coders))]
    if seed:
        shares = propensities(selector, problem, dataset, (places, error_usd, int(seed)))
    return [
        Memory(
            f"P(right) {p[at]:.3f}, propensity {shares[at]:.3f}",
            coders[at],
            {
                "member": str(at),
                "probability": repr(p[at]),
                "propensity": repr(shares[at]),
                "usd": "" if usd[at] is None else repr(usd[at]),
            },
        )
        for at in order
    ]


def _judgement(selector: Selector, query: Query) -> list[Memory]:
    if selector.after is None:
        return []
    tags = query.tags
    marks = (int(tags["passed"]), int(tags["total"]))
    tokens = int(tags["tokens"]) if tags["tokens"] else None
    values = answer_features(marks, tags["error"], tokens, int(tags["iteration"]), float(tags["votes"]))
    p = probability_right(selector.after, values)
    return [Memory(f"P(right) {p:.3f}", selector.id, {"probability": repr(p)})]
