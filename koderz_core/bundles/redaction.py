"""A journal as others may read it: one whole journal again, whose hashes and ids follow from what is left of it.

So whoever checks it needs to trust no mask: a text that was changed has another hash, and a plan that was changed
another id, in every line that names them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from koderz_core.bundles.fields import PLAIN, WORDED
from koderz_core.bundles.identities import Identities
from koderz_core.bundles.levels import SAFEST, Level
from koderz_core.events import BenchmarkOpened, Entry, TextStored
from koderz_core.notices.masking import masked, masked_keys
from koderz_core.records import Plan

Record = TypeVar("Record")
LEFT_OUT = "[left out: "


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
        if name in PLAIN.get(kind, ()):
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
