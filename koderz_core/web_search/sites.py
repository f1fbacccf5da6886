"""The sites that can be searched: accepted answers of Stack Overflow, and code on GitHub.

Sources: api.stackexchange.com/docs (search/advanced, answers, throttle) and docs.github.com/rest/search/search, both
27 Nov 2026. Stack Exchange allows 300 requests per day without a key; GitHub requires a token for searches of code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from koderz_core.config import Settings
from koderz_core.errors import PlanError
from koderz_core.records import PublicProblem
from koderz_core.web_search.cache import Found
from koderz_core.web_search.client import Client

MOST_RESULTS = 3
MOST_CHARACTERS = 2_000
"""Of one result."""
_LONGEST_URL = 300
_TOKEN = re.compile(r"<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9]{0,9})[^<>]*>|[^<]+|<")
MOST_WORDS = 8
_LONGEST_WORD = 24  # characters; a longer part of a name is no word
_MEANINGLESS = frozenset(
    {"task", "func", "function", "solve", "solution", "run", "main", "check", "candidate", "answer", "test", "foo", "f"}
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_SKIPPED = frozenset({"script", "style", "template", "iframe"})
_BLOCKS = frozenset({"p", "pre", "li", "br", "blockquote", "h1", "h2", "h3", "div", "tr"})


@dataclass(frozen=True, slots=True)
class Site:
    """A site. ``find`` returns the results for words; ``require`` raises PlanError if it cannot be searched."""

    title: str
    base_url: Callable[[Settings], str]
    headers: Callable[[Settings], Mapping[str, str]]
    find: Callable[[Client, Sequence[str]], Iterator[Found]]
    require: Callable[[Settings], None] = lambda _settings: None


def title_words(problem: PublicProblem) -> tuple[str, ...]:
    """The words of a problem's title, in lower case; empty if the title says nothing.

    The title is the name of the function or class to write. Code, tests, answers and other text are never sent. A name
    without a meaning, such as ``task_func``, gives no words, and then no request is sent.
    """
    words = [word.lower() for word in _WORD.findall(problem.entry_point) if len(word) <= _LONGEST_WORD]
    if problem.kind == "program" or not set(words) - _MEANINGLESS:
        return ()
    return tuple(words[:MOST_WORDS])


def text_of(markup: str) -> str:
    """The text of hostile HTML: without tags, scripts and styles, one line per block. Takes linear time.

    Python's own parser of HTML takes quadratic time for some texts, and fails on others.
    """
    parts: list[str] = []
    skipped = ""
    for token in _TOKEN.finditer(markup):
        tag = (token["tag"] or "").lower()
        if skipped:
            skipped = "" if token["end"] and tag == skipped else skipped
        elif tag in _SKIPPED and not token["end"]:
            skipped = tag
        elif tag:
            parts += ["\n"] if tag in _BLOCKS else []
        else:
            parts.append(unescape(token[0]))
    return "\n".join(line for line in "".join(parts).splitlines() if line.strip())


def _items(reply: Mapping[str, Any]) -> list[dict[str, Any]]:  # Any: JSON
    items = reply.get("items")
    return [item for item in items if isinstance(item, dict)][:MOST_RESULTS] if isinstance(items, list) else []


def _answers(client: Client, words: Sequence[str]) -> Iterator[Found]:
    """The accepted answers of the most relevant questions on Python."""
    key = client.settings.stackexchange_key
    common = {"site": "stackoverflow", **({"key": key.get_secret_value()} if key else {})}
    query = {"q": " ".join(words), "tagged": "python", "accepted": "True", "sort": "relevance", "order": "desc"}
    questions = _items(client.get("search", "search/advanced", {**query, "pagesize": str(MOST_RESULTS), **common}))
    titles = {item["accepted_answer_id"]: item for item in questions if isinstance(item.get("accepted_answer_id"), int)}
    if not titles:
        return
    path = f"answers/{';'.join(map(str, titles))}"
    answers = {
        item.get("answer_id"): item for item in _items(client.get("answers", path, {"filter": "withbody", **common}))
    }
    for number, question in titles.items():
        if isinstance(body := answers.get(number, {}).get("body"), str):
            text = f"{text_of(str(question.get('title', '')))}\n{text_of(body)}"
            yield Found(f"https://stackoverflow.com/a/{number}", text[:MOST_CHARACTERS])


def _code(client: Client, words: Sequence[str]) -> Iterator[Found]:
    """The passages of Python files that match best."""
    query = {"q": f"{' '.join(words)} language:python", "per_page": str(MOST_RESULTS)}
    for item in _items(client.get("search", "search/code", query)):
        matches = item.get("text_matches")
        fragments = (
            [match.get("fragment") for match in matches if isinstance(match, dict)] if isinstance(matches, list) else []
        )
        if text := "\n...\n".join(fragment for fragment in fragments if isinstance(fragment, str)):
            yield Found(str(item.get("html_url", ""))[:_LONGEST_URL], text[:MOST_CHARACTERS])


def _github_headers(settings: Settings) -> Mapping[str, str]:
    token = settings.github_token
    return {
        "Accept": "application/vnd.github.text-match+json",
        "X-GitHub-Api-Version": "2022-11-28",
        **({"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}),
    }


def _require_token(settings: Settings) -> None:
    if not settings.github_token:
        raise PlanError(
            "search=github needs a GitHub token, because GitHub requires one for searches of code. Create a token "
            "without any permissions and set it as KODERZ_GITHUB_TOKEN, or choose search=stackoverflow."
        )


SITES: Mapping[str, Site] = {
    "stackoverflow": Site(
        "Stack Overflow", lambda settings: settings.stackexchange_base_url, lambda _settings: {}, _answers
    ),
    "github": Site("GitHub", lambda settings: settings.github_base_url, _github_headers, _code, _require_token),
}
