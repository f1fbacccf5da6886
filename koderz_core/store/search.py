"""The search by words: a scan of all texts, because it needs no second index and is fast enough (docs/performance.md).

A first query finds the newest texts that contain the letters of all words. Whether the words begin where words begin
is checked here, so that a frequent word does not cost a regular expression for each of a million texts. If too few of
them do, a second query checks all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.errors import UsageError
from koderz_core.records.search import Kind, SearchHit, SearchQuery, SearchResult, Term
from koderz_core.store.details import KINDS as STEP_KINDS
from koderz_core.store.index import Index, mappings, records

BEFORE, SNIPPET = 40, 120  # characters: before the first match, and of a snippet in all
CANDIDATES = 10  # for each match that is asked for, and LEAST_CANDIDATES at least
LEAST_CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A text with its latest occurrence. ``place``: its row in ``texts``, or ``text`` itself.

    ``ends``: its step ends with this ordinal, else the step contains it.
    """

    kind: Kind
    place: int | None
    text: str | None
    at: float
    experiments: int
    benchmark: str | None
    experiment: str | None
    ordinal: int | None
    ends: bool | None


def search(index: Index, query: SearchQuery) -> SearchResult:
    """Names, then texts that contain all words of a query, the newest first. Raises UsageError without a word."""
    terms = query.terms
    if not terms:
        raise UsageError("The search contains no word. Type at least one word, or a phrase in quotation marks.")
    most = max(LEAST_CANDIDATES, CANDIDATES * query.limit)
    found: list[tuple[_Candidate, tuple[str, ...]]] = []
    for strict in (False, True):
        candidates = _candidates(index, query, most, strict=strict)
        found = list(_matching(index, candidates, terms))
        if len(found) > query.limit or len(candidates) < most:
            break
    shown = found[: query.limit]
    return SearchResult(tuple(_hits(index, shown)), len(found) > query.limit)


def _candidates(index: Index, query: SearchQuery, most: int, *, strict: bool) -> list[_Candidate]:
    """The newest texts that contain the letters of all words; ``strict``: and each word where a word begins."""
    terms = query.terms
    words = sorted({word for term in terms for word in term.words}, key=len, reverse=True)
    parts = [f"contains(lower(text), $word_{place})" for place in range(len(words))]
    values: dict[str, object] = {f"word_{place}": word for place, word in enumerate(words)}
    if strict:
        parts += [f"regexp_matches(text, $pattern_{place})" for place in range(len(terms))]
        values |= {f"pattern_{place}": term.pattern for place, term in enumerate(terms)}
    values |= {"kind": query.kind, "benchmark": query.benchmark, "most": most}
    return records(index.con, _Candidate, _NEWEST.format(matches=" and ".join(parts)), values)


def _matching(
    index: Index, candidates: Sequence[_Candidate], terms: Sequence[Term]
) -> Iterator[tuple[_Candidate, tuple[str, ...]]]:
    """The candidates that contain each term where a word begins, with their snippets."""
    patterns = [re.compile(term.pattern) for term in terms]
    places = [candidate.place for candidate in candidates if candidate.place is not None]
    rows = index.con.execute("select rowid, text from texts where rowid in (select unnest(?))", [places]).fetchall()
    texts = dict(rows)
    for candidate in candidates:
        text = texts[candidate.place] if candidate.place is not None else candidate.text or ""
        if all(pattern.search(text) for pattern in patterns):
            yield candidate, snippet(text, patterns)


def snippet(text: str, patterns: Sequence[re.Pattern[str]]) -> tuple[str, ...]:
    """An excerpt around the first match of the first pattern, which occurs in the text: outside, inside, outside …"""
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


def _hits(index: Index, found: Sequence[tuple[_Candidate, tuple[str, ...]]]) -> Iterator[SearchHit]:
    asked = [(candidate.experiment, candidate.ordinal, candidate.ends) for candidate, _ in found]
    columns = [list(column) for column in zip(*asked, strict=True)] or [[], [], []]
    rows = mappings(index.con, _PLACES, dict(zip(("experiments", "ordinals", "ends"), columns, strict=True)))
    names = dict(index.con.execute("select id, name from benchmarks").fetchall())
    for (candidate, excerpt), row in zip(found, rows, strict=True):
        benchmark = str(candidate.benchmark or row["benchmark"])
        yield SearchHit(
            candidate.kind,
            candidate.at,
            candidate.experiments,
            excerpt,
            benchmark,
            str(names[benchmark]),
            candidate.experiment,
            row["step"],  # type: ignore[arg-type]  # the types of these columns are those of the fields
            row["problem"],  # type: ignore[arg-type]
            row["label"],  # type: ignore[arg-type]
        )


# Every text that the search knows. ``ends``: the step of the experiment ends with this ordinal.
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
hits as materialized (select rowid as place, sha256 from texts where {matches}),
occurrences as (
    select kind, place, null as text, null as benchmark, experiment, ordinal, "at", ends
    from stored join hits using (sha256)
    union all
    select kind, null, text, benchmark, experiment, ordinal, "at", ends from named where {matches}
)
select kind, place, text, max("at") as "at", count(distinct experiment) as experiments,
    unnest(arg_max(
        {{'benchmark': benchmark, 'experiment': experiment, 'ordinal': ordinal, 'ends': ends}},
        {{'known': ordinal is not null, 'at': "at"}}
    ))
from occurrences
where ($kind is null or kind = $kind) and (
    $benchmark is null or benchmark = $benchmark
    or experiment in (select id from experiments where experiments.benchmark = $benchmark)
)
group by kind, place, text order by kind = 'name' desc, max("at") desc, kind, place, text limit $most
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
