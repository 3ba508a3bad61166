"""The site of a GitHub repository, where it shows the trends of its nights.

https://docs.github.com/en/rest/pages
"""

from __future__ import annotations

import requests

from ci_eval.ci.rest import TIMEOUT, Rest

MARK = "trend.json"
"""Lies in the site of trends, and hardly in one about anything else."""


def address(rest: Rest) -> str:
    """Where the trends are shown; empty where the repository has no site, or one about something else."""
    found = rest.find("/pages") or {}
    page = str(found.get("html_url") or "")
    return page if page and _is_there(f"{page.rstrip('/')}/{MARK}") else ""


def _is_there(file: str) -> bool:
    try:
        # Another host: without the token. A private site shows a login instead.
        answer = requests.head(file, timeout=TIMEOUT, allow_redirects=True)
    except requests.RequestException:
        # What cannot be reached is no reason to post nothing.
        return False
    return answer.ok and "json" in answer.headers.get("content-type", "")
