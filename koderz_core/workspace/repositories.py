"""Repositories: the map of a folder, its summary, files of rules for coding agents, and prompts for features."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import msgspec

from koderz_core.bundles.creation import require_own
from koderz_core.config import Settings
from koderz_core.errors import DataError, UsageError
from koderz_core.files import replace_file
from koderz_core.input_files import decoded, read_bytes
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price, runs_here
from koderz_core.records import Completion, Cost, Tier, Usage
from koderz_core.records.repositories import Relevant, RepositoryMap
from koderz_core.report.feature_prompt import LONGEST_FEATURE, feature_prompt
from koderz_core.report.repository_text import summarize, summary_prompt
from koderz_core.report.rules_files import RULES_FILES, RulesName, merged, rules
from koderz_core.repositories import map_repository, relevant_files
from koderz_core.workspace.models import Models

__all__ = ["RULES_FILES", "Feature", "Repositories", "RulesName", "RulesPreview", "Summary"]

SUMMARY_TOKENS = 700
_CURE = "Move the file away, or save it as UTF-8 text."


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that a model wrote, as the record in the data folder has it. ``at``: seconds since 1970.

    ``prompt`` and ``text`` are as the model received and wrote them, with keys masked.
    """

    at: float
    repository: str
    root: str
    model: str
    tier: Tier
    prompt: str
    text: str
    finish: str
    usage: Usage
    seconds: float
    cost: Cost
    record: str


@dataclass(frozen=True, slots=True)
class RulesPreview:
    """A file of rules as it is and as it would be. ``before`` None: there is no such file.

    ``sha256`` (hex): of the existing file, "" if there is none.
    """

    name: RulesName
    path: Path
    before: str | None
    after: str
    sha256: str

    @property
    def changed(self) -> bool:
        """Whether writing it would change anything."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The unified diff from the existing file; "" if nothing changes."""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        source = "/dev/null" if self.before is None else f"a/{self.name}"
        return "\n".join(unified_diff(list(old), list(new), source, f"b/{self.name}", lineterm=""))


@dataclass(frozen=True, slots=True)
class Feature:
    """The prompt for a feature, and the files that it names as relevant, best first."""

    prompt: str
    relevant: tuple[Relevant, ...]


class Repositories:
    """Reads a folder only when it is asked to, and writes into it only files of rules that were previewed."""

    def __init__(self, settings: Settings, models: Callable[[], Models]) -> None:
        self._settings, self._models = settings, models

    def map(self, folder: Path) -> RepositoryMap:
        """The map of a folder. Raises UsageError if it cannot be read."""
        return map_repository(folder)

    def summary(self, repository: RepositoryMap) -> str:
        """A summary by rules, without a model."""
        return summarize(repository)

    def leaves_machine(self, model: str) -> bool:
        """Whether a model receives its prompts on another machine. Raises UnknownNameError, ConfigError."""
        card = resolve(model, self._settings)
        return card.provider != "scripted" and not runs_here(card, self._settings)

    def summarize(self, repository: RepositoryMap, model: str) -> Summary:
        """Let a model summarise the map, and keep the call with its price in the data folder.

        The prompt contains no contents of files except first sentences of docstrings. Raises ModelError, OfflineError,
        UnknownNameError, DataError, and UsageError in a dashboard that shows a bundle.
        """
        require_own(self._settings.home)
        card = resolve(model, self._settings)
        path = self._record_path()
        prompt = self._settings.redaction().text(summary_prompt(repository))
        answer: Completion = self._models().ask(card.id, prompt, SUMMARY_TOKENS)
        at = time.time()
        summary = Summary(
            at,
            repository.name,
            repository.root,
            card.id,
            card.tier,
            prompt,
            answer.text,
            answer.finish,
            answer.usage,
            answer.seconds,
            price(card, answer.usage, answer.seconds, self._settings),
            str(path),
        )
        try:
            replace_file(path, msgspec.json.format(msgspec.json.encode(summary), indent=1))
        except OSError as error:
            raise DataError(
                f"{path} cannot be written ({error.strerror}), so the model call for the summary was not recorded."
            ) from error
        return summary

    def _record_path(self) -> Path:
        """The path of a new record, whose folder exists: a call that costs money must not lose its record."""
        folder = self._settings.home / "summaries"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{folder} cannot be created ({error.strerror}). Choose another data folder.") from error
        return folder / f"summary_{secrets.token_hex(6)}.json"

    def rules(self, repository: RepositoryMap, name: RulesName) -> RulesPreview:
        """What a file of rules would contain. Text outside the part that koderz wrote stays. Raises DataError."""
        path = Path(repository.root) / name
        content = _existing(path)
        before = None if content is None else decoded(content, path)
        agents = Path(repository.root) / "AGENTS.md"
        generated = rules(repository, name, imports_agents=agents.is_file())
        sha256 = "" if content is None else hashlib.sha256(content).hexdigest()
        return RulesPreview(name, path, before, merged(before or "", generated), sha256)

    def write(self, preview: RulesPreview) -> Path:
        """Write a file of rules as it was previewed. Raises DataError if the file has changed since the preview."""
        content = _existing(preview.path)
        if ("" if content is None else hashlib.sha256(content).hexdigest()) != preview.sha256:
            raise DataError(
                f"{preview.path} has changed since the preview, so nothing was written. Preview the file again."
            )
        try:
            replace_file(preview.path, preview.after.encode(), private=False)
        except OSError as error:
            raise DataError(f"{preview.path} cannot be written ({error.strerror}). Check its permissions.") from error
        return preview.path

    def feature(self, repository: RepositoryMap, text: str) -> Feature:
        """The prompt for a feature that a person describes. Raises UsageError for an empty or too long text."""
        if not text.strip():
            raise UsageError("The description of the feature is empty. Describe the feature in a few words.")
        if len(text) > LONGEST_FEATURE:
            raise UsageError(
                f"The description of the feature is longer than {LONGEST_FEATURE:,} characters. Shorten it."
            )
        relevant = relevant_files(repository, text)
        return Feature(feature_prompt(repository, text, relevant), relevant)


def _existing(path: Path) -> bytes | None:
    """The content of a file of rules, None if there is none. Raises DataError, also for a link: koderz follows none."""
    if path.is_symlink():
        raise DataError(
            f"{path} is a link, and koderz does not write through links. Edit the file that the link points to."
        )
    return read_bytes(path, _CURE, 4 << 20) if path.exists() else None
