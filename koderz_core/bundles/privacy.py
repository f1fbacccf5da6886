"""Privacy levels: the redaction of a journal for other readers. The result is a complete journal again.

A changed text has a new hash and a changed plan a new id, in every line that names them. So a check of the result does
not depend on any mask. Only the fields listed here keep their texts; all other fields are left out. Paths, hosts, user
names and mail addresses are masked. A path is recognised by its form only: two names after slashes are a path, a single
name is not. Loopback addresses and those of the two large providers stay.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, TypeVar, cast

from koderz_core.events import (
    BenchmarkClosed,
    BenchmarkDecided,
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
    ExperimentLabelled,
    MemoryLevelChanged,
    MemoryRecalled,
    ProgramProbed,
    SpecWritten,
    TextStored,
    TurnSpoken,
)
from koderz_core.events.lines import text_fields
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
    Sampling,
    Usage,
    Verdict,
)
from koderz_core.records.completions import Reused
from koderz_core.records.plans import Ranked, Selection
from koderz_core.records.progress import Forecast
from koderz_core.records.registrations import Registration
from koderz_core.records.shards import LostCall

Record = TypeVar("Record")
LEFT_OUT = "[left out: "
PATH, HOST, USER = "[path]", "[host]", "[user]"
_COMMON = re.compile(  # names that identify no person; some are words of koderz
    "(?i)root|users?|admin|administrator|ubuntu|debian|home|tests?|guest|nobody|coder|local|localhost|frontier|embedded"
    "|ollama|openai|anthropic|koderz|python|node|app|dev|main"
)
_SHORTEST = 3  # letters; shorter names are part of too many words
_PATHS = re.compile(
    r"file://[^\s\"'<>|]+"
    r"|(?<![\w./~\]])(?:~[\w-]*)?(?:/[\w.@+~%-]+){2,}/?"  # POSIX; a text after :// is a host
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
    "public_safe": "for everyone: contains all figures and your labels, but omits or masks notes, paths, host names, "
    "user names, API keys and other secrets, and all texts of models, problems and tests",
    "team_safe": "for your team: contains figures, programs, prompts, answers, labels and notes, but masks paths, host "
    "names, user names, API keys and other secrets",
    "full_internal": "for yourself: contains everything except API keys",
}
REDACTIONS: Mapping[Level, tuple[str, ...]] = {
    "public_safe": ("texts", "messages", "keys", "paths", "hosts", "users"),
    "team_safe": ("keys", "paths", "hosts", "users"),
    "full_internal": ("keys",),
}
"""What is removed or masked at each level."""


def redacted(entries: Iterable[Entry], level: Level, identities: Identities) -> list[Entry]:
    """The entries of one journal, redacted for ``level``."""
    journal = list(entries)
    names = _Redactor(level, identities, {}).names_in(journal)
    redactor = _Redactor(level, identities, names)
    return [
        replace(
            entry, event=redactor.record(entry.event), experiment=names.get(entry.experiment or "", entry.experiment)
        )
        for entry in journal
    ]


@dataclass(frozen=True, slots=True)
class Identities:
    """The user names, hosts, folders and keys of this machine, which no bundle may reveal."""

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def masked(self, text: str) -> str:
        """The text without users, hosts and folders. The secrets are masked elsewhere."""
        for folder in sorted(self.folders, key=len, reverse=True):
            if len(folder) > _SHORTEST:
                text = re.sub(rf"{re.escape(folder)}[\w./@+~%-]*", PATH, text)
        text = _MAIL.sub(USER, _PATHS.sub(PATH, text))
        text = _NUMBERS.sub(HOST, _ADDRESSES.sub(HOST, text))
        return _named(_named(text, self.hosts, HOST), self.users, USER)


@dataclass(frozen=True, slots=True)
class _Redactor:
    level: Level
    identities: Identities
    names: Mapping[str, str]  # old -> new ids and hashes

    def names_of(self, plan: Plan) -> dict[str, str]:
        after = self.record(plan)
        pairs = {plan.id: after.id}
        both = zip(plan.configurations, after.configurations, strict=True)
        pairs |= {old.id: new.id for old, new in both}
        return pairs | {old.id: new.id for old, new in zip(plan.experiments(), after.experiments(), strict=True)}

    def names_in(self, entries: Iterable[Entry]) -> dict[str, str]:
        names: dict[str, str] = {}
        for entry in entries:
            if isinstance(entry.event, TextStored):
                text = self.text(entry.event.text)
                names[entry.event.sha256] = hashlib.sha256(text.encode()).hexdigest()
            elif isinstance(entry.event, BenchmarkOpened):
                names |= self.names_of(entry.event.plan)
        return names

    def text(self, text: str) -> str:
        """A stored text; at the safest level only its length and its hash."""
        if self.level != SAFEST:
            return self.worded(text, masked_keys)
        return f"{LEFT_OUT}{len(text)} characters, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}]"

    def worded(self, text: str, keys: Callable[[str, Iterable[str]], str] = masked) -> str:
        if self.level == "full_internal":
            return masked_keys(text, self.identities.secrets)
        return self.identities.masked(keys(text, self.identities.secrets))

    def record(self, record: Record) -> Record:
        """The record with each field redacted by its rule."""
        if isinstance(record, TextStored):
            text = self.text(record.text)
            return replace(record, sha256=self.names.get(record.sha256, record.sha256), text=text)
        kind = type(record)
        changed = {
            field_.name: self._value(getattr(record, field_.name), self._rule(kind, field_.name))
            for field_ in fields(record)  # type: ignore[arg-type]  # every record is a dataclass
            if field_.init
        }
        return kind(**changed)

    def _rule(self, kind: type, name: str) -> Callable[[str], str]:
        if name in PLAIN.get(kind, ()) or name in text_fields(kind):
            return lambda text: self.names.get(text, text)
        return self.worded if name in WORDED.get(kind, ()) else self._quoted

    def _quoted(self, text: str) -> str:
        """A text that a model, a program or a provider wrote."""
        return f"{LEFT_OUT}{len(text)} characters]" if text and self.level == SAFEST else self.worded(text)

    def _value(self, value: Any, rule: Callable[[str], str]) -> Any:  # Any: the value of any field
        if isinstance(value, str):
            return rule(value)
        if is_dataclass(value):
            return self.record(value)
        if isinstance(value, Mapping):
            return {self.worded(key): self._value(item, rule) for key, item in value.items()}
        return tuple(self._value(item, rule) for item in value) if isinstance(value, tuple | list) else value


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
    Reused: frozenset({"experiment"}),
    LostCall: frozenset({"experiment"}),
    Registration: frozenset({"stopping"}),
    ControlObeyed: frozenset({"what", "target"}),
    MemoryLevelChanged: frozenset({"level"}),
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
    BenchmarkDecided: frozenset({"decision"}),
    BenchmarkClosed: frozenset({"reason"}),
}
"""Words of koderz, versions, hashes and ids. They stay as they are, except for ids and hashes that have changed."""

WORDED: Mapping[type, frozenset[str]] = {
    BenchmarkOpened: frozenset({"tiers", "energy"}),
    Plan: frozenset({"problems", "name", "conditions", "outside"}),
    Configuration: frozenset({"models", "parameters"}),
    DatasetOrigin: frozenset({"name", "licence"}),
    Registration: frozenset({"exclusions"}),
    Selection: frozenset({"strategy", "role", "policy", "chosen", "results_of"}),
    Ranked: frozenset({"model", "reason"}),
    Experiment: frozenset({"problem"}),
    Forecast: frozenset({"unpriced"}),
    CallStarted: frozenset({"model"}),
    CodeTested: frozenset({"how"}),
    Cost: frozenset({"source"}),
    Usage: frozenset({"service_tier"}),
    Sampling: frozenset({"effort"}),
    TurnSpoken: frozenset({"speaker"}),
    ExperimentLabelled: frozenset({"label"}),
}
"""Words of a user or a provider that are needed to understand figures. Names and keys in them are masked."""


def _named(text: str, names: Iterable[str], mask: str) -> str:
    identifying = [name for name in names if len(name) >= _SHORTEST and not _COMMON.fullmatch(name)]
    for name in sorted(identifying, key=len, reverse=True):
        text = re.sub(rf"(?i)(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", mask, text)
    return text


def level_of(word: str) -> tuple[Level, str]:
    """The level of that name, and "" or a warning: an unknown name means the safest level."""
    if word in ABOUT:
        return cast(Level, word), ""  # one of its names
    return SAFEST, f"Unknown privacy level: {word!r}. koderz uses {SAFEST} instead. Known levels: {', '.join(ABOUT)}."
