"""The search by words: a scan of all texts, which is fast enough without a second index (docs/performance.md).

Only a frequent word would be slow. It has enough matches among the newest texts, which are therefore searched first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.errors import UsageError
from koderz_core.records.search import Kind, SearchHit, SearchQuery, SearchResult
from koderz_core.store.details import KINDS as STEP_KINDS
from koderz_core.store.index import Index, mappings, records

RECENT = 20_000  # calls, whose texts are searched first
BEFORE, SNIPPET = 40, 120  # characters: before the first match, and of a snippet in all


@dataclass(frozen=True, slots=True)
class _Match:
    """A text with its latest occurrence. ``ends``: its step ends with this ordinal, else the step contains it."""

    kind: Kind
    text: str
    at: float
    experiments: int
    benchmark: str | None
    experiment: str | None
    ordinal: int | None
    ends: bool


def search(index: Index, query: SearchQuery) -> SearchResult:
    """Names, then texts that contain all words of a query, the newest first. Raises UsageError without a word."""
    terms = query.terms
    if not terms:
        raise UsageError("The search query contains no word. Type at least one word, or a phrase in quotation marks.")
    words = sorted({word for term in terms for word in term.words}, key=len, reverse=True)
    # A text without the letters of a word needs no regular expression, which takes longer.
    tests = [f"contains(lower(text), $word_{place})" for place in range(len(words))]
    tests += [f"regexp_matches(lower(text), $pattern_{place})" for place in range(len(terms))]
    values: dict[str, object] = {"kind": query.kind, "benchmark": query.benchmark, "most": query.limit + 1}
    values |= {f"word_{place}": word for place, word in enumerate(words)}
    values |= {f"pattern_{place}": term.pattern for place, term in enumerate(terms)}
    matches, found = " and ".join(tests), list[_Match]()
    recent = index.con.execute('select "at" from calls order by "at" desc limit 1 offset ?', [RECENT]).fetchone()
    if recent:
        index.con.execute(_RECENT, list(recent))
        found = records(
            index.con, _Match, _NEWEST.format(texts="recent", matches=matches), values | {"since": recent[0]}
        )
    if len(found) <= query.limit:
        found = records(index.con, _Match, _NEWEST.format(texts=_ALL, matches=matches), values | {"since": 0.0})
    patterns = [re.compile(term.pattern, re.IGNORECASE) for term in terms]
    return SearchResult(tuple(_hits(index, found[: query.limit], patterns)), len(found) > query.limit)


def _hits(index: Index, found: Sequence[_Match], patterns: Sequence[re.Pattern[str]]) -> Iterator[SearchHit]:
    asked = [(match.experiment, match.ordinal, match.ends) for match in found]
    columns = zip(*asked, strict=True) if asked else ((), (), ())
    values = dict(zip(("experiments", "ordinals", "ends"), map(list, columns), strict=True))
    names = dict(index.con.execute("select id, name from benchmarks").fetchall())
    for match, row in zip(found, mappings(index.con, _PLACES, values), strict=True):
        benchmark = str(match.benchmark or row["benchmark"])
        yield SearchHit(
            match.kind,
            match.at,
            match.experiments,
            snippet(match.text, patterns),
            benchmark,
            str(names[benchmark]),
            match.experiment,
            row["step"],  # type: ignore[arg-type]  # the types of these columns are those of the fields
            row["problem"],  # type: ignore[arg-type]
            row["label"],  # type: ignore[arg-type]
        )


def snippet(text: str, patterns: Sequence[re.Pattern[str]]) -> tuple[str, ...]:
    """An excerpt on one line that alternates text outside and inside a match; it shows the first pattern's first match.

    The only group of a pattern is the text to mark.
    """
    first = patterns[0].search(text)
    begin = max(0, (first.start(1) if first else 0) - BEFORE)
    end = min(len(text), begin + SNIPPET)
    parts, at = ["…" if begin else ""], begin
    for start, stop in sorted(match.span(1) for pattern in patterns for match in pattern.finditer(text, begin, end)):
        if start >= at:  # else it overlaps an earlier match
            parts[-1] += text[at:start]
            parts += [text[start:stop], ""]
            at = stop
    parts[-1] += text[at:end] + ("…" if end < len(text) else "")
    return tuple(re.sub(r"\s+", " ", part) for part in parts)


_ALL = "(select rowid as place, sha256, text from texts)"
# A table, because DuckDB would otherwise look for the words in all texts before it selects the recent ones.
_RECENT = """
create or replace temp table recent as
select rowid as place, sha256, text from texts where sha256 in (
    select text from prompts where "at" >= $1 union all select text from calls where "at" >= $1
    union all select code from iterations where "at" >= $1 union all select code from scores where "at" >= $1
)
"""
# Texts are first reduced to the newest, because only their experiments matter. ``ends``: as in ``_Match``.
_NEWEST = """
with stored as (
    select 'prompt' as kind, text as sha256, experiment, ordinal, "at", false as ends from prompts
    union all
    select 'answer', text, experiment, ordinal, "at", false from calls where text is not null
    union all
    select 'program', code, experiment, ordinal, "at", true from iterations where code is not null
    union all
    select 'program', code, experiment, null, "at", true from scores
),
named as (
    select 'error' as kind, message as text, null as benchmark, experiment, ordinal, "at", true as ends from iterations
    union all
    select 'error', message, null, experiment, ordinal, "at", false from calls
    union all
    select 'error', text, null, experiment, ordinal, "at", false from notes where kind = 'recall_failed'
    union all
    select 'error', error, null, id, null, finished_at, true from experiments
    union all
    select 'name', problem, null, id, null, started_at, true from experiments where started_at is not null
    union all
    select 'name', name, id, null, null, opened_at, true from benchmarks
    union all
    select 'name', model, benchmark, null, null, opened_at, true
    from (
        select distinct benchmark, unnest(json_extract_string(models, '$.*[*]')) as model from configurations
    ) join benchmarks on id = benchmark
),
hits as materialized (select place, sha256 from {texts} where {matches}),
occurrences as (
    select kind, place, null as text, null as benchmark, experiment, ordinal, "at", ends
    from stored join hits using (sha256)
    union all
    select kind, null, text, benchmark, experiment, ordinal, "at", ends from named where {matches}
),
wanted as (
    from occurrences
    where ($kind is null or kind = $kind) and (
        $benchmark is null or benchmark = $benchmark
        or experiment in (select id from experiments where experiments.benchmark = $benchmark)
    )
),
newest as materialized (
    select kind, place, text, max("at") as "at" from wanted where "at" >= $since or kind = 'name'
    group by kind, place, text order by kind = 'name' desc, "at" desc, kind, place, text limit $most
)
select n.kind, coalesce(n.text, any_value(t.text)) as text, n."at", count(distinct w.experiment) as experiments,
    unnest(arg_max(
        {{'benchmark': w.benchmark, 'experiment': w.experiment, 'ordinal': w.ordinal, 'ends': w.ends}},
        {{'known': w.ordinal is not null, 'at': w."at"}}
    ))
from newest n
join wanted w on w.kind = n.kind and w.place is not distinct from n.place and w.text is not distinct from n.text
left join texts t on t.rowid = n.place
group by n.kind, n.place, n.text, n."at" order by n.kind = 'name' desc, n."at" desc, n.kind, n.place, n.text
"""
# The number of the step that holds an ordinal: as many steps end before it, or with it.
_PLACES = f"""
with asked as (
    select unnest($experiments::varchar[]) as experiment, unnest($ordinals::integer[]) as ordinal,
        unnest($ends::boolean[]) as ends, unnest(range(len($ends::boolean[]))) as place
),
endings as (
    select experiment, ordinal from iterations where experiment in (select experiment from asked)
    union all
    select experiment, ordinal from notes
    where experiment in (select experiment from asked) and kind in ({", ".join(f"'{kind}'" for kind in STEP_KINDS)})
)
select e.benchmark, e.problem, f.label, if(a.ordinal is null, null, if(a.ends, 0, 1) + (
        select count(*) from endings s where s.experiment = a.experiment and s.ordinal <= a.ordinal
    )) as step
from asked a
left join experiments e on e.id = a.experiment
left join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
order by a.place
"""  # noqa: S608 (ours)
