"""The search for repositories at GitHub, by language, stars, forks and licence.

https://docs.github.com/en/search-github/searching-on-github/searching-for-repositories
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ci_eval.plugins.mining.reviews.api import Api

MOST = 1_000
"""The number of repositories of one search that GitHub gives."""


@dataclass(frozen=True, kw_only=True)
class Criteria:
    """The properties that a repository must have. Forks are never taken: their code is another repository's."""

    language: str
    """The language by GitHub's name, in any case."""
    stars: int = 0
    forks: int = 0
    """The least number of stars, and of forks of it."""
    licences: frozenset[str] = frozenset()
    """The allowed licences, as SPDX identifiers; none = any."""


@dataclass
class Search:
    api: Api
    criteria: Criteria
    left_out: Counter[str] = field(default_factory=Counter)

    def names(self, limit: int) -> Iterator[dict[str, Any]]:
        """Yield the repositories as GitHub describes them, those with most stars first. Raises DownloadError."""
        return islice((item for item in self._all() if self._takes(item)), limit)

    def _all(self) -> Iterator[dict[str, Any]]:
        seen: set[int] = set()
        most: int | None = None
        while True:
            count, lowest = 0, most
            for item in self.api.listed("/search/repositories", q=self._query(most), sort="stars", order="desc"):
                count, lowest = count + 1, int(item["stargazers_count"])
                if item["id"] not in seen:
                    seen.add(item["id"])
                    yield item
            # A search ends at MOST, so that the next one asks for those with as many stars as the last, or fewer.
            if count < MOST or lowest == most:
                return
            most = lowest

    def _query(self, most: int | None) -> str:
        stars = f">={self.criteria.stars}" if most is None else f"{self.criteria.stars}..{most}"
        return f'language:"{self.criteria.language}" stars:{stars} forks:>={self.criteria.forks} fork:false'

    def _takes(self, item: dict[str, Any]) -> bool:
        """Return whether a repository is as it must be: GitHub's index may be older than its data."""
        licence = (item.get("license") or {}).get("spdx_id") or ""
        reason = (
            "fork" if item["fork"]
            else "stars" if item["stargazers_count"] < self.criteria.stars
            else "forks" if item["forks_count"] < self.criteria.forks
            else "licence" if self.criteria.licences and licence not in self.criteria.licences
            else ""
        )  # fmt: skip
        self.left_out.update([reason] if reason else [])
        return not reason


def newest_spec(api: Api, item: dict[str, Any]) -> str:
    commit = api.get(f"/repos/{item['full_name']}/commits/{item['default_branch']}")
    return f"git:{item['html_url']}.git@{commit['sha']}"
