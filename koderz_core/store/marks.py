"""What the marks of a rate are made of, in SQL."""

from __future__ import annotations

from koderz_core.strategies import STRATEGIES, facts_of

_SILENT = ", ".join(f"'{name}'" for name in sorted(STRATEGIES) if not facts_of(name).shows_attempts)
SAW_BASE_TESTS = f"""
(f.gate <> 'examples' and f.feedback = 'full' and f.strategy not in ({_SILENT})
    and coalesce(try_cast(f.parameters ->> '$.max_iterations' as double), 2) > 1
    and (coalesce(f.parameters ->> '$.previous_error', 'true') = 'true' or json_exists(f.models, '$.reviewer')))
"""
"""Of a configuration ``f``: whether its prompts hold base tests with their expected values once a program has failed.

Examples stand in the problem's text anyway. Feedback other than ``full`` says what a program did, not what is expected.
A strategy of somebody else's counts as one that shows what it is told. A spec is written before any test has run; who
reviews sees the same feedback as the coder, and may pass it on.
"""

SCORED = "r.outcome in ('solved', 'unsolved')"
COUNTS = f"""
count(distinct r.problem) filter (where {SCORED}) as scored_problems,
count(distinct r.problem) filter (where {SCORED} and r.score_kind = 'oracle') as oracle_problems
"""
"""Of the experiments ``r`` of a configuration."""
