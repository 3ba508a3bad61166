"""The GitHub Pages site of a repository, where it shows the trends of its nightly evaluations.

https://docs.github.com/en/rest/pages
"""

from __future__ import annotations

import requests

from ci_eval.ci.rest import TIMEOUT, Rest

MARK = "trend.json"
"""A file that a site of trends has, and one about anything else hardly would."""


def address(rest: Rest) -> str:
    """Return the address of the site of trends, or an empty string if the repository has no site or one about something
    else."""
    site = rest.find("/pages") or {}
    page = str(site.get("html_url") or "")
    return page if page and _is_there(f"{page.rstrip('/')}/{MARK}") else ""


def _is_there(file: str) -> bool:
    try:
        # The site is on another host, so the token is not sent. A private site answers with a login page.
        answer = requests.head(file, timeout=TIMEOUT, allow_redirects=True)
    except requests.RequestException:
        # A site that cannot be reached only costs the link to it.
        return False
    return answer.ok and "json" in answer.headers.get("content-type", "")
