"""The options of ``koderz benchmark`` that register a plan before its first call, and the lines that announce it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from koderz_core.cli.options import Number, option, with_options
from koderz_core.errors import PlanError
from koderz_core.plan.registration import RegistrationOrder, pair_named
from koderz_core.records import Plan
from koderz_core.records.registrations import document, registration_hash
from koderz_core.report.registration import announced, decided, deviation_announced, saved
from koderz_core.workspace import Workspace
from koderz_core.workspace.runs import Runner

_USUAL = RegistrationOrder()
_FIELDS = {"primary": "--primary", "margin": "--margin", "stopping": "--stopping", "exclusions": "--exclusions"}


registration_options = with_options(
    option("Problems", "--register", is_flag=True, help="Register the plan before the first model call."),
    option(
        "Problems",
        "--primary",
        metavar="A,B",
        advanced=True,
        help="With --register: the primary comparison, as a configuration and its baseline.  [default: the "
        "configurations of the plan, if it has two]",
    ),
    option(
        "Problems",
        "--margin",
        type=Number(0, 100, min_open=True, max_open=True),
        metavar="POINTS",
        advanced=True,
        help="With --register: non-inferiority margin of the primary comparison, in percentage points.  [default: "
        f"{100 * _USUAL.margin:g}]",
    ),
    option(
        "Problems",
        "--stopping",
        type=click.Choice(["fixed", "sequential"]),
        advanced=True,
        help="With --register: fixed runs all experiments; sequential stops when the primary comparison is decided.  "
        "[default: fixed]",
    ),
    option(
        "Problems",
        "--exclusions",
        metavar="TEXT",
        advanced=True,
        help="With --register: a text that says which results will be excluded.",
    ),
)
"""``--register`` and what can be registered."""


def registration_order(options: Mapping[str, Any]) -> RegistrationOrder | None:
    """The registration that parsed options describe; None without ``--register``. Raises PlanError."""
    given = {name: options[name] for name in _FIELDS if options[name] is not None}
    if not options["register"]:
        if given:
            flags = ", ".join(_FIELDS[name] for name in given)
            raise PlanError(f"{flags} can be used only with --register. Add --register, or omit {flags}.")
        return None
    if options["pilot"]:
        raise PlanError(
            "--pilot shows results before the plan is final, so it cannot be combined with --register. Run the pilot "
            "as a separate benchmark, on problems that the registered benchmark does not contain."
        )
    primary = pair_named(given["primary"]) if "primary" in given else None
    margin = given["margin"] / 100 if "margin" in given else _USUAL.margin
    return RegistrationOrder(primary, margin, given.get("stopping", _USUAL.stopping), given.get("exclusions", ""))


def registration_document(plan: Plan) -> Mapping[str, object]:
    """The hash of a registered plan and everything that it covers, for programs; empty for other plans."""
    if not plan.registration:
        return {}
    return {"registration": {"sha256": registration_hash(plan), "covers": msgspec.to_builtins(document(plan))}}


def decision_lines(opened: Workspace, runner: Runner) -> Iterator[str]:
    """How the stopping rule ended a sequential benchmark, and what that saved; no line if it did not."""
    if found := runner.decided:
        yield decided(found.decision, found.problems, len(runner.plan.problems))
        if left := saved(opened.costs.forecast_or_none(runner.plan)):
            yield left


def registration_lines(plan: Plan, before: Plan | None = None) -> Iterator[str]:
    """The registration of a plan with its hash, if it is registered; ``before``: the recorded plan that it changes."""
    if plan.registration:
        yield from announced(before or plan, begun=before is not None)
        if before is not None and (deviation := deviation_announced(before, plan)):
            yield deviation
