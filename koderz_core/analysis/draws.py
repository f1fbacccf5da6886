"""Recorded attempts of experiments, and the sources that policies can draw them from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.sampling import is_right
from koderz_core.records.attempts import Chain, CoderCall, GateMarks, Outcome, RecordedAttempt, Source
from koderz_core.records.plans import IMPORTED, natural
from koderz_core.records.trials import Trial
from koderz_core.sums import known_sum

DEPENDENT = "later prompts contain earlier answers, reviews or specs"
SEVERAL = "the attempts come from several models, temperatures or prompts"
UNMATCHED = "koderz cannot determine which call produced each program"
_Marks = Mapping[tuple[str, str], Mapping[str, GateMarks]]


@dataclass(frozen=True, slots=True)
class About:
    """A configuration. ``model``: its only coder, empty if it has several. ``fixed``: as in ``Source``."""

    label: str
    strategy: str
    gate: str
    model: str
    fixed: bool


def recorded_attempts(
    trials_by_key: Mapping[Key, Sequence[Trial]], calls: Iterable[CoderCall], about: Mapping[Key, About]
) -> tuple[RecordedAttempt, ...]:
    """Every attempt of the trials with a result."""
    asked = {name: tuple(of) for name, of in groupby(calls, key=lambda call: call.experiment)}
    marks = _marks(trials_by_key, about)
    found: list[RecordedAttempt] = []
    for key, trials in trials_by_key.items():
        scored = [trial for trial in trials if trial.scored]
        of_each = [asked.get(trial.experiment, ()) for trial in scored]
        matched = all(map(_matches, scored, of_each))
        first = next(filter(None, of_each), (None,))[0] if matched else None
        for trial, own in zip(scored, of_each, strict=True):
            found += _attempts(trial, own if matched else (), about[key], marks, first)
    return tuple(found)


def _matches(trial: Trial, calls: Sequence[CoderCall]) -> bool:
    """Whether each call wrote one program. Without a call, because no prompt or budget allowed one, there is none."""
    return len(calls) == (len(trial.tries) or 1) or not (calls or trial.tries or trial.code)


def sources_of(
    attempts: Sequence[RecordedAttempt], trials_by_key: Mapping[Key, Sequence[Trial]], about: Mapping[Key, About]
) -> dict[str, Source]:
    """The sources by name: first the models, each at one temperature and prompt, then the configurations."""
    by_key: dict[Key, list[RecordedAttempt]] = {key: [] for key in trials_by_key}
    for attempt in attempts:
        by_key[attempt.benchmark, attempt.configuration].append(attempt)
    pools: list[_Pool] = []
    for key, own in by_key.items():
        for (model, temperature), drawn in _fresh(own).items():
            prompts = {attempt.problem: attempt.prompt for attempt in drawn if attempt.prompt}
            pool = next((it for it in pools if it.fits(key, model, temperature, prompts)), None)
            if pool is None:
                pools.append(pool := _Pool(model, temperature))
            pool.keys.append(key)
            pool.prompts |= prompts
            pool.attempts += drawn
    names = _pool_names(pools, about)
    found = [_source(pool, name, trials_by_key, about) for pool, name in zip(pools, names, strict=True)]
    labels = _labels(about)
    found += [_configuration(key, labels[key], own, trials_by_key, about) for key, own in by_key.items() if own]
    return {source.name: source for source in found}


@dataclass(slots=True)
class _Pool:
    """Fresh attempts that are draws of one model with the same prompts and sampling options."""

    model: str
    temperature: float | None
    keys: list[Key] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)
    attempts: list[RecordedAttempt] = field(default_factory=list)

    def fits(self, key: Key, model: str, temperature: float | None, prompts: Mapping[str, str]) -> bool:
        """Without a shared problem, only the same configuration is known to have the same prompts."""
        shared = self.prompts.keys() & prompts.keys()
        same = all(self.prompts[problem] == prompts[problem] != "" for problem in shared)  # empty: unknown
        known = bool(shared) or any(configuration == key[1] for _, configuration in self.keys)
        return (self.model, self.temperature) == (model, temperature) and same and known


def _attempts(
    trial: Trial, calls: Sequence[CoderCall], about: About, marks: _Marks, example: CoderCall | None
) -> Iterator[RecordedAttempt]:
    """Without calls, costs are those of the trial up to each program.

    ``example``: a call of the same configuration, whose model would also have been asked here; None if calls are not
    known to belong to programs.
    """
    spent = _differences(trial)
    codes = [(attempt.code, is_right(trial, attempt), attempt.error) for attempt in trial.tries]
    imported = about.strategy == IMPORTED
    for place, (code, right, error) in enumerate(codes or [(trial.code, trial.solved, None)]):
        call = calls[place] if calls else None
        fresh = call.first and call.prompt == calls[0].prompt if call else imported or example is not None
        usd, seconds, tokens = (call.usd, call.seconds, call.tokens) if call and fresh else spent[place]
        asked = call or example
        yield RecordedAttempt(
            benchmark=trial.benchmark,
            configuration=trial.configuration,
            experiment=trial.experiment,
            problem=trial.problem,
            repeat=trial.repeat,
            place=place + 1,
            model=asked.model if asked else about.model,
            temperature=asked.temperature if asked else None,
            code=code,
            gates=marks.get((trial.problem, code), {}) if code else {},
            right=right,
            error=error,
            fresh=fresh,
            usd=usd,
            seconds=seconds,
            tokens=tokens,
            prompt=call.prompt if call else "",
            cached=bool(call and call.cached),
            reported=imported,
        )


def _differences(trial: Trial) -> list[tuple[float | None, float | None, int | None]]:
    """Dollars, seconds and tokens attempt by attempt; those after the last test belong to the last attempt."""
    so_far = [(attempt.usd, attempt.seconds, attempt.tokens) for attempt in trial.tries[:-1]]
    seconds = trial.tries[-1].seconds if trial.tries else trial.seconds  # without waiting
    totals = [(0.0, 0.0, 0), *so_far, (trial.usd, seconds, trial.tokens)]
    return [
        (
            _less(after[0], before[0]),
            _less(after[1], before[1]),
            None if after[2] is None or before[2] is None else after[2] - before[2],
        )
        for before, after in pairwise(totals)
    ]


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else max(0.0, after - before)


def _marks(trials_by_key: Mapping[Key, Sequence[Trial]], about: Mapping[Key, About]) -> _Marks:
    """The marks of every tested program by gate. The same program passes the same tests in each experiment."""
    marks: defaultdict[tuple[str, str], dict[str, GateMarks]] = defaultdict(dict)
    for key, trials in trials_by_key.items():
        for trial in trials:
            for tried in trial.tries:
                if tried.code is not None:
                    mark = GateMarks(tried.gate_passed, tried.tests_passed, tried.tests_total)
                    marks[trial.problem, tried.code].setdefault(about[key].gate, mark)
    return marks


def _fresh(attempts: Sequence[RecordedAttempt]) -> dict[tuple[str, float | None], list[RecordedAttempt]]:
    found: defaultdict[tuple[str, float | None], list[RecordedAttempt]] = defaultdict(list)
    for attempt in attempts:
        if attempt.fresh and attempt.model:
            found[attempt.model, attempt.temperature].append(attempt)
    return found


def _source(pool: _Pool, name: str, trials_by_key: Mapping[Key, Sequence[Trial]], about: Mapping[Key, About]) -> Source:
    problems = {trial.problem for key in pool.keys for trial in trials_by_key[key] if trial.scored}
    fixed, chains = _divided(_once(pool.attempts), about)
    return Source(
        name=name,
        model=pool.model,
        temperature=pool.temperature,
        configurations=tuple(pool.keys),
        problems=tuple(sorted(problems, key=natural)),
        fixed=fixed,
        chains=chains,
        greedy=_greedy(pool.temperature, pool.attempts),
    )


def _once(attempts: Sequence[RecordedAttempt]) -> list[RecordedAttempt]:
    """Without answers that the response cache copied from another benchmark that is named here as well."""
    asked = {_answer(attempt) for attempt in attempts if not attempt.cached}
    kept = []
    for attempt in attempts:
        if not attempt.cached or _answer(attempt) not in asked:
            kept.append(attempt)
            asked |= {_answer(attempt)}
    return kept


def _answer(attempt: RecordedAttempt) -> tuple[object, ...]:
    return attempt.configuration, attempt.problem, attempt.repeat, attempt.place, attempt.code


def _configuration(
    key: Key,
    name: str,
    own: Sequence[RecordedAttempt],
    trials_by_key: Mapping[Key, Sequence[Trial]],
    about: Mapping[Key, About],
) -> Source:
    kinds = {(attempt.model, attempt.temperature) for attempt in own}
    matched = all(attempt.prompt or attempt.fresh for attempt in own)
    all_fresh = all(attempt.fresh for attempt in own)
    why = UNMATCHED if not matched else DEPENDENT if not all_fresh else SEVERAL if len(kinds) > 1 else ""
    fixed, chains = _divided(own, {} if why else about)
    scored = [trial for trial in trials_by_key[key] if trial.scored]
    recorded: defaultdict[str, list[Outcome]] = defaultdict(list)
    by_experiment: defaultdict[str, list[RecordedAttempt]] = defaultdict(list)
    for attempt in own:
        by_experiment[attempt.experiment].append(attempt)
    for trial in scored:
        spent = known_sum(attempt.seconds for attempt in by_experiment[trial.experiment])
        recorded[trial.problem].append(_as_it_ran(trial, spent))
    model, temperature = kinds.pop() if len(kinds) == 1 else ("", None)
    return Source(
        name=name,
        model=model,
        temperature=temperature,
        configurations=(key,),
        problems=tuple(sorted(recorded, key=natural)),
        fixed=fixed,
        chains=chains,
        greedy=not why and _greedy(temperature, own),
        why=why,
        recorded={problem: tuple(outcomes) for problem, outcomes in recorded.items()},
    )


def _as_it_ran(trial: Trial, seconds: float | None) -> Outcome:
    submitted = trial.code is not None or trial.score_kind == "reported"
    return Outcome(
        solved=float(trial.solved),
        accepted_wrong=float(submitted and trial.gate_passed is not False and not trial.solved),
        attempts=float(len(trial.tries) or 1),
        usd=trial.usd,
        seconds=seconds,
        tokens=trial.tokens,
    )


def _divided(
    attempts: Iterable[RecordedAttempt], about: Mapping[Key, About]
) -> tuple[dict[str, Chain], dict[str, tuple[Chain, ...]]]:
    """The draws whose number was fixed beforehand, and the chains; without ``about`` all are chains."""
    fixed: defaultdict[str, list[RecordedAttempt]] = defaultdict(list)
    chains: defaultdict[str, list[Chain]] = defaultdict(list)
    for _, group in groupby(attempts, key=lambda attempt: attempt.experiment):
        chain = tuple(group)
        known = about.get((chain[0].benchmark, chain[0].configuration))
        if known and known.fixed:
            fixed[chain[0].problem] += chain
        else:
            chains[chain[0].problem].append(chain)
    return (
        {problem: tuple(drawn) for problem, drawn in fixed.items()},
        {problem: tuple(several) for problem, several in chains.items()},
    )


def _greedy(temperature: float | None, attempts: Iterable[RecordedAttempt]) -> bool:
    """An unknown temperature counts as greedy unless repeats on a problem have different results."""
    if temperature is not None:
        return temperature == 0
    seen: defaultdict[str, set[bool | None]] = defaultdict(set)
    for attempt in attempts:
        seen[attempt.problem].add(attempt.right)
    return all(len(results) == 1 for results in seen.values())


def _pool_names(pools: Sequence[_Pool], about: Mapping[Key, About]) -> list[str]:
    """``qwen@0.8``; with the label of the first configuration if there are several with different prompts."""
    models = {pool.model for pool in pools}
    short = {model: model.rpartition("/")[2] for model in models}
    plain = [
        (short[pool.model] if list(short.values()).count(short[pool.model]) == 1 else pool.model)
        + ("" if pool.temperature is None else f"@{pool.temperature:g}")
        for pool in pools
    ]
    return [
        name if plain.count(name) == 1 else f"{name} as in {about[pool.keys[0]].label} ({pool.keys[0][0]})"
        for name, pool in zip(plain, pools, strict=True)
    ]


def _labels(about: Mapping[Key, About]) -> dict[Key, str]:
    labels = [known.label for known in about.values()]
    return {
        key: known.label if labels.count(known.label) == 1 else f"{known.label} ({key[0]})"
        for key, known in about.items()
    }
