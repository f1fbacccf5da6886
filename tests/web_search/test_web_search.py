"""Searches of public sites: only title words leave, faults of a site are named, and results are bounded text."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest
from search_server import QUESTIONS, Answer, SearchServer, says, serving_search

from koderz_core.config import Settings, load_settings
from koderz_core.errors import OfflineError, SearchError
from koderz_core.records import PublicProblem
from koderz_core.web_search import client
from koderz_core.web_search.cache import FRESH_SECONDS, Cache, Found
from koderz_core.web_search.client import MOST_BYTES, WAITS_SECONDS, Client
from koderz_core.web_search.sites import MOST_CHARACTERS, SITES, text_of, title_words

TOKEN = "ghp_MARKED"
WORDS = ("has", "close", "elements")


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with serving_search() as known:
        yield known


def settings_for(server: SearchServer, **given: object) -> Settings:
    return load_settings(
        stackexchange_base_url=server.url, github_base_url=server.url, github_token=TOKEN, offline=False, **given
    )


class Pauses(list[float]):
    """A clock that only pauses move."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)

    def now(self) -> float:
        return sum(self)


def find(server: SearchServer, site: str = "stackoverflow", pauses: Pauses | None = None) -> list[Found]:
    settings, slept = settings_for(server), pauses if pauses is not None else Pauses()
    asks = Client(settings, server.url, "a search", SITES[site].headers(settings), slept, slept.now)
    return list(SITES[site].find(asks, WORDS))


def test_stack_overflow_gives_the_text_of_accepted_answers_without_markup(server: SearchServer) -> None:
    (found,) = find(server)
    assert found.url == "https://stackoverflow.com/a/7"
    assert found.text.startswith("Close & near\nCompare <neighbours> after sorting.\nnumbers.sort()")
    assert "alert(1)" not in found.text
    assert len(found.text) <= MOST_CHARACTERS
    asked = parse_qs(urlsplit(server.asked[0][0]).query)
    assert (asked["q"], asked["site"], asked["accepted"]) == (["has close elements"], ["stackoverflow"], ["True"])


def test_github_gives_passages_and_the_token_is_sent_only_as_a_header(server: SearchServer) -> None:
    (found,) = find(server, "github")
    assert found == Found("https://github.com/a/b/blob/c/d.py", "def close(): ...")
    ((path, headers),) = server.asked
    assert parse_qs(urlsplit(path).query)["q"] == ["has close elements language:python"]
    assert headers["authorization"] == f"Bearer {TOKEN}"


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "500")
    handler.end_headers()
    handler.wfile.write(b'{"items": [')


def drips(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):
        for _ in range(100):
            handler.wfile.write(b" ")
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (says({}, 500), "answered 500"),
        (says({"error_name": "throttle_violation"}, 400), r"answered 400 \(throttle_violation\)"),
        (says({}, 302, Location="http://127.0.0.1:1/"), "answered 302"),
        (says(b'{"items": [{"title": "cut'), "did not answer with a JSON object"),
        (says([1]), "did not answer with a JSON object"),
        (says(b"[" * 100_000), "did not answer with a JSON object"),
        (cut, r"cannot be searched \(RemoteProtocolError\)"),
        (drips, "took longer than"),
        (says(b" " * (MOST_BYTES + 1)), "sent more than"),
        (says(gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"), "sent more than"),
        (says(b"no gzip", Content_Encoding="gzip"), "sent a response that cannot be decompressed"),
        (says({}, 429, Retry_After="3600"), "allows no further search for 3600 s"),
    ],
)
def test_a_fault_of_the_site_is_named(
    server: SearchServer, fault: Answer, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SECONDS", 0.3)
    server.faults.append(fault)
    settings = settings_for(server)
    with pytest.raises(SearchError, match=message) as caught:
        Client(settings, server.url, "a search", pause=Pauses()).get("search", "search/advanced", {"key": TOKEN})
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_busy_site_is_asked_again_after_growing_or_requested_pauses(server: SearchServer, status: int) -> None:
    server.faults += [says({}, status), says({}, status), says({}, status, Retry_After="9")]
    pauses = Pauses()
    assert find(server, pauses=pauses)
    assert pauses == [*WAITS_SECONDS[:2], 9.0]


@pytest.mark.parametrize(("reset", "seconds"), [("1020", 21.0), ("900", 1.0), ("9999", 60.0)])
@pytest.mark.parametrize("status", [403, 429])
def test_a_used_up_limit_of_github_is_waited_for(server: SearchServer, status: int, reset: str, seconds: float) -> None:
    server.faults.append(says({}, status, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset))
    settings, pauses = settings_for(server), Pauses()
    asks = Client(settings, server.url, "a search", pause=pauses, clock=pauses.now, now=lambda: 1000.0)
    assert list(SITES["github"].find(asks, WORDS))
    assert pauses == [seconds]


def test_a_backoff_delays_only_the_next_request_of_the_same_method(server: SearchServer) -> None:
    server.faults.append(says({**QUESTIONS, "backoff": 10}))
    settings, pauses = settings_for(server), Pauses()
    asks = Client(settings, server.url, "a search", {}, pauses, pauses.now)
    list(SITES["stackoverflow"].find(asks, WORDS))
    assert pauses == []
    list(SITES["stackoverflow"].find(asks, WORDS))
    assert pauses == [10]


def test_offline_refuses_a_search_before_any_request() -> None:
    settings = load_settings(offline=True)
    with pytest.raises(OfflineError, match=r"api\.github\.com was not contacted for a search"):
        Client(settings, settings.github_base_url, "a search").get("search", "search/code", {})


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("has_close_elements", "function", ("has", "close", "elements")),
        ("HTTPServerPool", "function", ("http", "server", "pool")),
        ("task_func", "function", ()),
        ("solve", "function", ()),
        ("run", "program", ()),
        ("a_" * 20 + "b", "function", ("a",) * 8),
    ],
)
def test_only_the_words_of_the_name_are_sent(name: str, kind: str, words: tuple[str, ...]) -> None:
    secret = PublicProblem("X/1", "def SECRET():\n    '''SECRET'''", name, kind=kind, given="SECRET")  # type: ignore[arg-type]
    assert title_words(secret) == words


def test_the_cache_forgets_old_results_and_ignores_damage(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koderz_core.web_search.cache.MOST_FILES", 2)
    now = [1000.0]
    cache, found = Cache(tmp_path, lambda: now[0]), (Found("u", "t"),)
    for word in ("one", "two", "three"):
        cache.keep(found, "site", word)
        time.sleep(0.01)
    assert [cache.get("site", word) for word in ("one", "two", "three")] == [None, found, found]
    (damaged, *_) = tmp_path.glob("*.json")
    damaged.write_bytes(b'{"at":')
    assert [cache.get("site", word) for word in ("two", "three")].count(None) == 1
    now[0] += FRESH_SECONDS
    assert cache.get("site", "three") is None


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<![x<!--y<p>z", "<![x<!--y\nz"),  # Python's own parser of HTML fails on this
        ("a<script>b<p></style>c</SCRIPT >d<style>e", "ad"),
        ("1 < 2 &amp;&#60; <b title='x'>3</b>", "1 < 2 &< 3"),
        ("<br><br>\n\n", ""),
    ],
)
def test_hostile_markup_becomes_text(markup: str, text: str) -> None:
    assert text_of(markup) == text
