"""The list of repositories from which datasets are made."""

from __future__ import annotations

import os

from ci_eval.ci import Screen
from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.plugins.mining.repositories import Criteria, Search, newest_spec
from ci_eval.plugins.mining.reviews.api import ADDRESS, Api


def find(criteria: Criteria, limit: int, *, specs: bool, screen: Screen) -> None:
    """Print a line for each repository: OWNER/NAME, or with `specs` the SPEC of its newest commit. Raises DownloadError
    or NothingToEvaluate."""
    api = Api(os.environ.get("GITHUB_TOKEN", ""), os.environ.get("GITHUB_API_URL") or ADDRESS, tell=screen.warn)
    search = Search(api, criteria)
    count = 0
    for item in search.names(limit):
        screen.result(newest_spec(api, item) if specs else str(item["full_name"]))
        count += 1
    left_out = ", ".join(f"{number:,} by {reason}" for reason, number in sorted(search.left_out.items()))
    screen.say(f"{count:,} repositories{f'; left out: {left_out}' if left_out else ''}")
    if not count:
        raise NothingToEvaluate("no repository is like that: lower --stars or --forks, or allow another --licence")
