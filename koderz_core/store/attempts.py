"""The calls that wrote programs, one by one, for policies that are replayed on recorded attempts."""

from __future__ import annotations

from collections.abc import Collection

from koderz_core.records.attempts import CoderCall
from koderz_core.store.index import Index


def coder_calls(index: Index, benchmarks: Collection[str]) -> list[CoderCall]:
    """The answered calls of coders in these benchmarks, in the order of each experiment."""
    rows = index.con.execute(_CALLS, {"benchmarks": list(benchmarks)}).fetchall()
    return [CoderCall(*row) for row in rows]


# Attempts without an answer count only if their cost is known, as in ``store.trials``.
_CALLS = """
with asked as (select id from experiments where list_contains($benchmarks::varchar[], benchmark)),
turns as (
    select experiment, ordinal, any_value(role) as role, any_value(model) as model, any_value(sampling) as sampling,
        any_value(messages) as messages, bool_or(state = 'finished') as answered,
        bool_or(cached_from is not null) as cached,
        known_sum(cost_usd, attempt) as usd, known_sum(if(state = 'finished', seconds, 0)) as seconds,
        known_sum(if(state = 'finished', input_tokens + output_tokens, 0)) as tokens
    from calls semi join asked on asked.id = experiment
    where state = 'finished' or cost_usd is not null group by experiment, ordinal
)
select experiment, model, try_cast(sampling ->> '$.temperature' as double),
    md5(concat_ws(' ', messages::varchar, sampling ->> '$.top_p', sampling ->> '$.max_tokens')),
    not coalesce(bool_or(role != 'coder') over before, false), if(cached, null, usd), if(cached, null, seconds),
    tokens::bigint
from turns
window before as (partition by experiment order by ordinal rows between unbounded preceding and 1 preceding)
qualify role = 'coder' and answered order by experiment, ordinal
"""
