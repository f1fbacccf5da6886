"""Searches of public sites for experiments whose strategy asks for them: through the egress gate, with a cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from koderz_core.config import Settings
from koderz_core.errors import PlanError, SearchError, UsageError
from koderz_core.records import Asker, Configuration, Memory, Problem, Query
from koderz_core.records.marks import SEARCHED_SITES
from koderz_core.web_search.cache import Cache
from koderz_core.web_search.client import Client
from koderz_core.web_search.sites import SITES, title_words


def require_search(configurations: Sequence[Configuration], settings: Settings) -> None:
    """Raise PlanError if a configuration searches a site that cannot be searched now."""
    wanted = {made.parameters.get("search") for made in configurations}
    for name in (name for name in SEARCHED_SITES if name in wanted):
        site = SITES[name]
        site.require(settings)
        if not settings.allows_egress(site.base_url(settings)):
            raise PlanError(
                f"search={name} searches {site.title}, but KODERZ_OFFLINE is set. Unset KODERZ_OFFLINE, or omit search."
            )


class WebSearch:
    """Answers ``Query("web", {"site": ...})``. May be used from several threads, which take turns."""

    def __init__(self, settings: Settings, problem: Callable[[str, str], Problem | None]) -> None:
        """``problem``: returns a problem by the names of its dataset and of itself."""
        self._settings, self._problem = settings, problem
        self._cache = Cache(settings.cache_dir / "web_search")
        self._guard = Lock()  # guards _clients, and every request
        self._clients: dict[str, Client] = {}

    def recall(self, query: Query, asker: Asker) -> Sequence[Memory]:
        """Search for the words of the problem's title, whatever the query says. Raises InfrastructureError.

        A problem whose title says nothing has no results, and nothing is sent.
        """
        name = query.tags.get("site", "")
        site = SITES.get(name)
        if site is None:
            raise SearchError(f"There is no site {name!r}. Known sites: {', '.join(SITES)}.")
        try:
            problem = self._problem(asker.dataset.name, asker.problem)
        except UsageError as error:  # no experiment ends because of a dataset's name
            raise SearchError(str(error)) from error
        words = title_words(problem.public) if problem else ()
        if not words:
            return []
        base_url = site.base_url(self._settings)
        with self._guard:
            found = self._cache.get(name, base_url, *words)
            if found is None:
                found = tuple(site.find(self._client(name), words))
                self._cache.keep(found, name, base_url, *words)
        return [Memory(result.text, result.url, {"site": name, "words": " ".join(words)}) for result in found]

    def _client(self, name: str) -> Client:
        if name not in self._clients:
            site = SITES[name]
            headers: Mapping[str, str] = site.headers(self._settings)
            purpose = f"a search of {site.title}"
            self._clients[name] = Client(self._settings, site.base_url(self._settings), purpose, headers)
        return self._clients[name]
