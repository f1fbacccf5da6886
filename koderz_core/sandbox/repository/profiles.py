"""Learns from runs of the correct program which tests can be observed, and how they behave."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from koderz_core.sandbox.repository.instrument import Key, instrument
from koderz_core.sandbox.repository.reports import PASSED, Reports
from koderz_core.sandbox.repository.rewriting import simply
from koderz_core.sandbox.repository.sites import Site
from koderz_core.sandbox.repository.verdicts import Profile, Seen, same_values, seen_in

Run = Callable[[Mapping[str, str]], Reports]
"""Runs all tests of the tree with the correct program and these files changed."""
_MOST_ROUNDS = 8
_STRONG = frozenset({"value", "pair", "kind", "raises"})  # forms with a second form for values that are not plain data


@dataclass
class _Learned:
    sequences: dict[str, tuple[str, ...]] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)
    opaque: set[str] = field(default_factory=set)
    single: set[str] = field(default_factory=set)
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def size(self) -> int:
        return len(self.plain) + len(self.opaque) + len(self.single)

    def profile(self) -> Profile:
        plain, opaque, single = map(frozenset, (self.plain, self.opaque, self.single))
        return Profile(dict(self.sequences), plain, opaque, single, dict(self.known))


def profile_of(files: Mapping[str, str], ids: Sequence[str], run: Run, lot: random.Random) -> Profile:
    """The profile of tests that pass with the correct program, from at least three runs; the later ones have twins.

    Each round rewrites what the rounds before have shown to be possible, until two rounds agree.
    """
    learned = _Learned()
    for number in range(_MOST_ROUNDS):
        before = learned.size()
        twinned = [test for test in ids if test not in learned.single] if number else []
        made = instrument(files, ids, lot, frozenset(learned.plain), twinned, frozenset(learned.opaque))
        learned.single |= made.key.single
        reports = run(made.files)
        for test in ids:
            _learn(learned, test, made.key, reports, first=number == 0)
        if number > 1 and learned.size() == before:
            break
    return learned.profile()


def _learn(learned: _Learned, test: str, key: Key, reports: Reports, *, first: bool) -> None:
    runs = key.runs[test]
    copies = [(reports[run].outcome, seen_in(key, reports[run])) for run in runs if run in reports]
    wrong = [site for _, seen in copies for site, found in seen.steps if not found.right]
    lasting = [site for site in wrong if not _other_form(site, learned.opaque)]
    learned.opaque |= {form for site in wrong if (form := _other_form(site, learned.opaque))}
    if first or (learned.sequences.get(test) is None and copies):
        learned.sequences[test] = copies[0][1].places if copies else ()
    if test in learned.plain:
        learned.plain |= {site.owner for site in lasting}
        return
    if len(copies) == len(runs) and all(_is_right(learned.sequences[test], *copy) for copy in copies):
        for _, seen in copies:
            known = learned.known.get(test, seen.reports)
            pairs = zip(known, seen.reports, strict=False)
            learned.known[test] = tuple(a if same_values(a, b) else "" for a, b in pairs)
        return
    own = key.definitions.get(test, test)
    _give_up(learned, (test, own), lasting, copies, twin=len(runs) > 1)


def _other_form(site: Site, opaque: set[str]) -> str:
    """How ``opaque`` names a weaker form of a site; empty if there is none."""
    if site.form in _STRONG:
        return site.place
    simple = simply(site.place)
    return simple if site.operation in {"==", "!="} and simple not in opaque else ""


def _is_right(sequence: tuple[str, ...], outcome: str, seen: Seen) -> bool:
    return outcome == PASSED and not seen.forged and seen.places == sequence and not seen.wrong


def _give_up(
    learned: _Learned, names: tuple[str, str], wrong: Sequence[Site], copies: Sequence[tuple[str, Seen]], *, twin: bool
) -> None:
    """Try a test without a twin next; then as it is. Sites whose form can still be refined wait for the next round."""
    test, definition = names
    only_refined = not wrong and all(
        outcome == PASSED and seen.places == learned.sequences[test] and seen.wrong for outcome, seen in copies
    )
    if copies and only_refined:
        return
    if twin:
        learned.single.add(test)
        return
    learned.plain |= {test, definition}
    learned.plain |= {site.owner for site in wrong}
