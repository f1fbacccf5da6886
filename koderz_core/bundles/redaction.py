"""Redaction of a journal for other readers, at one of three privacy levels; the result is a whole journal again.

A text that was changed has another hash, and a plan that was changed another id, in every line that names them; so a
check of the result needs to trust no mask. Only texts of the fields listed here are kept: a field that nobody has
thought of is left out. Paths, hosts, user names and mail addresses are masked. A path is recognised by its look only:
two names behind slashes are one, a name alone is not. Loopback addresses stay, and those of the two providers that
everybody reaches at the same place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, cast

from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkOpened,
    CallFinished,
    CallStarted,
    CheckpointReviewed,
    CodeTested,
    ConsensusReached,
    Considered,
    ControlObeyed,
    Entry,
    ExperimentFinished,
    MemoryRecalled,
    ProgramProbed,
    SpecWritten,
    TextStored,
    TurnSpoken,
)
from koderz_core.events.kinds import text_fields
from koderz_core.notices.mask import masked, masked_keys
from koderz_core.records import (
    Configuration,
    Cost,
    DatasetOrigin,
    Experiment,
    MemoryRef,
    MessageRef,
    Observed,
    Plan,
    Query,
    Usage,
    Verdict,
)
from koderz_core.records.forecasts import Forecast
from koderz_core.records.plans import Ranked, Selection

Record = TypeVar("Record")
LEFT_OUT = "[left out: "
PATH, HOST, USER = "[path]", "[host]", "[user]"
_COMMON = re.compile(  # names that tell nothing of anybody, and some are words of koderz
    "(?i)root|users?|admin|administrator|ubuntu|debian|home|tests?|guest|nobody|coder|local|localhost|frontier|embedded"
    "|ollama|openai|anthropic|koderz|python|node|app|dev|main"
)
_SHORTEST = 3  # letters: a shorter name is part of too many words
_PATHS = re.compile(
    r"file://[^\s\"'<>|]+"
    r"|(?<![\w./~\]])(?:~[\w-]*)?(?:/[\w.@+~%-]+){2,}/?"  # POSIX; what stands behind :// is a host
    r"|(?<!\w)~/[\w.@+~%-]+"
    r"|(?<!\w)/(?:root|home|Users|tmp|mnt|opt|srv|media|private)\b"
    r"|(?<!\w)[A-Za-z]:[\\/]{1,2}[\w.@+~%\\/-]+"
    r"|\\\\[\w.-]+\\[\w.$@+~%\\-]+"
)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_OPEN = r"(?:localhost|127\.0\.0\.1|\[::1\]|api\.openai\.com|api\.anthropic\.com)(?![\w.-])"
_ADDRESSES = re.compile(rf"(?<=://)(?!{_OPEN})(?:\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d+)?")
_NUMBERS = re.compile(r"(?<![\w.])(?!127\.0\.0\.1(?![\w.])|0\.0\.0\.0(?![\w.]))(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
Level = Literal["public_safe", "team_safe", "full_internal"]
SAFEST: Level = "public_safe"
ABOUT: Mapping[Level, str] = {
    "public_safe": "for anybody: every figure, but nothing that a model, a problem or a test says; no keys, paths, "
    "hosts or user names",
    "team_safe": "for people you work with: programs, prompts and replies too; keys, paths, hosts and user "
    "names masked",
    "full_internal": "for yourself: everything but keys",
}
REDACTIONS: Mapping[Level, tuple[str, ...]] = {
    "public_safe": ("texts", "messages", "keys", "paths", "hosts", "users"),
    "team_safe": ("keys", "paths", "hosts", "users"),
    "full_internal": ("keys",),
}
"""What was taken out or masked at each level."""


def redacted(entries: Iterable[Entry], level: Level, whose: Identities) -> list[Entry]:
    """The entries of one journal as ``level`` lets them out."""
    found = list(entries)
    redactor = _Redactor(level, whose, {})
    names = redactor.names_in(found)
    whole = _Redactor(level, whose, names)
    return [
        replace(entry, event=whole.record(entry.event), experiment=names.get(entry.experiment or "", entry.experiment))
        for entry in found
    ]


@dataclass(frozen=True, slots=True)
class Identities:
    """Whose machine this is, and the keys set on it: what must not be read out of a bundle."""

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def masked(self, text: str) -> str:
        """The text without any of them but the secrets, which are the others' to mask."""
        for folder in sorted(self.folders, key=len, reverse=True):
            if len(folder) > _SHORTEST:
                text = re.sub(rf"{re.escape(folder)}[\w./@+~%-]*", PATH, text)
        text = _MAIL.sub(USER, _PATHS.sub(PATH, text))
        text = _NUMBERS.sub(HOST, _ADDRESSES.sub(HOST, text))
        return _named(_named(text, self.hosts, HOST), self.users, USER)


@dataclass(frozen=True, slots=True)
class _Redactor:
    level: Level
    whose: Identities
    names: Mapping[str, str]  # ids and hashes -> what they are now

    def names_of(self, plan: Plan) -> dict[str, str]:
        after = self.record(plan)
        pairs = {plan.id: after.id}
        both = zip(plan.configurations, after.configurations, strict=True)
        pairs |= {old.id: new.id for old, new in both}
        return pairs | {old.id: new.id for old, new in zip(plan.experiments(), after.experiments(), strict=True)}

    def names_in(self, entries: Iterable[Entry]) -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in entries:
            if isinstance(entry.event, TextStored):
                text = self.text(entry.event.text)
                found[entry.event.sha256] = hashlib.sha256(text.encode()).hexdigest()
            elif isinstance(entry.event, BenchmarkOpened):
                found |= self.names_of(entry.event.plan)
        return found

    def text(self, text: str) -> str:
        """A text that was stored: at the safest level only how long it is, and which."""
        if self.level != SAFEST:
            return self.worded(text, masked_keys)
        return f"{LEFT_OUT}{len(text)} characters, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}]"

    def worded(self, text: str, keys: Callable[[str, Iterable[str]], str] = masked) -> str:
        if self.level == "full_internal":
            return masked_keys(text, self.whose.secrets)
        return self.whose.masked(keys(text, self.whose.secrets))

    def record(self, record: Record) -> Record:
        """The same with each of its fields as it may be read."""
        if isinstance(record, TextStored):
            text = self.text(record.text)
            return replace(record, sha256=self.names.get(record.sha256, record.sha256), text=text)
        kind = type(record)
        changed = {
            one.name: self._value(getattr(record, one.name), self._rule(kind, one.name))
            for one in fields(record)  # type: ignore[arg-type]  # every record is a dataclass
            if one.init
        }
        return kind(**changed)

    def _rule(self, kind: type, name: str) -> Callable[[str], str]:
        if name in PLAIN.get(kind, ()) or name in text_fields(kind):
            return lambda text: self.names.get(text, text)
        return self.worded if name in WORDED.get(kind, ()) else self._said

    def _said(self, text: str) -> str:
        """What a model, a program or a provider said."""
        return f"{LEFT_OUT}{len(text)} characters]" if text and self.level == SAFEST else self.worded(text)

    def _value(self, value: Any, rule: Callable[[str], str]) -> Any:  # Any: whatever a field holds
        if isinstance(value, str):
            return rule(value)
        if is_dataclass(value):
            return self.record(value)
        if isinstance(value, Mapping):
            return {self.worded(key): self._value(one, rule) for key, one in value.items()}
        return tuple(self._value(one, rule) for one in value) if isinstance(value, tuple | list) else value


PLAIN: Mapping[type, frozenset[str]] = {
    BenchmarkOpened: frozenset(
        {
            "koderz_version",
            "benchmark",
            "prompt_versions",
            "price_version",
            "isolation",
            "forked_from",
            "self_test",
            "runtime",
        }
    ),
    Configuration: frozenset({"strategy", "gate", "feedback"}),
    DatasetOrigin: frozenset({"sha256"}),
    Experiment: frozenset({"id", "configuration"}),
    ControlObeyed: frozenset({"what", "target"}),
    Forecast: frozenset({"unknown"}),
    TextStored: frozenset({"sha256"}),
    CallStarted: frozenset({"role", "request"}),
    MessageRef: frozenset({"role", "text"}),
    CallFinished: frozenset({"finish"}),
    CodeTested: frozenset({"request"}),
    Verdict: frozenset({"marks", "error", "isolation"}),
    ProgramProbed: frozenset({"request"}),
    Observed: frozenset({"error"}),
    MemoryRecalled: frozenset({"request"}),
    Query: frozenset({"kind"}),
    MemoryRef: frozenset({"text", "origin"}),
    SpecWritten: frozenset({"prompt", "origin", "finish"}),
    CheckpointReviewed: frozenset({"why", "passed_on"}),
    ConsensusReached: frozenset({"by"}),
    Considered: frozenset({"excluded"}),
    ExperimentFinished: frozenset({"outcome", "reason", "score_kind", "failure"}),
    BenchmarkClosed: frozenset({"reason"}),
}
"""Words of koderz, versions, hashes and ids: they stay as they are, except for ids and hashes that have changed.

Fields of events that hold the hash of a text (``text_fields``) are treated in the same way.
"""

WORDED: Mapping[type, frozenset[str]] = {
    BenchmarkOpened: frozenset({"tiers", "energy"}),
    Plan: frozenset({"problems", "name", "conditions", "outside"}),
    Configuration: frozenset({"models", "parameters"}),
    DatasetOrigin: frozenset({"name", "licence"}),
    Selection: frozenset({"strategy", "role", "policy", "chosen", "results_of"}),
    Ranked: frozenset({"model", "reason"}),
    Experiment: frozenset({"problem"}),
    Forecast: frozenset({"unpriced"}),
    CallStarted: frozenset({"model"}),
    CodeTested: frozenset({"how"}),
    Cost: frozenset({"source"}),
    Usage: frozenset({"service_tier"}),
    TurnSpoken: frozenset({"speaker"}),
}
"""Words of a person or a provider without which a figure means nothing: masked wherever anything is."""


def _named(text: str, names: Iterable[str], mask: str) -> str:
    telling = [name for name in names if len(name) >= _SHORTEST and not _COMMON.fullmatch(name)]
    for name in sorted(telling, key=len, reverse=True):
        text = re.sub(rf"(?i)(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", mask, text)
    return text


def level_of(word: str) -> tuple[Level, str]:
    """The level of that name, and "" or a warning: what nobody knows is treated as the safest."""
    if word in ABOUT:
        return cast(Level, word), ""  # one of its names
    return SAFEST, f"There is no privacy level {word!r}, so {SAFEST} is taken. Known: {', '.join(ABOUT)}."
