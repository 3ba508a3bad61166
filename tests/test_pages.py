"""What pages promise of themselves: their length, that links lead somewhere, and that what they quote is said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ci_eval

ROOT = Path(ci_eval.__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TROUBLE = (ROOT / "docs" / "troubleshooting.md").read_text()


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_is_short_and_begins_with_what_people_come_for() -> None:
    lines = README.read_text().splitlines()
    assert len(lines) <= 80
    assert "ci-eval compare-engines" in "\n".join(lines[:25])
    first, second = re.findall(r"```sh\n(.+?)\n```", README.read_text(), re.DOTALL)[:2]
    fresh = "python3 -m venv .venv && .venv/bin/pip install"
    assert (first, second) == (
        f"{fresh} . && .venv/bin/ci-eval evaluate",
        f"{fresh} -e '.[test]' && .venv/bin/pytest",
    )
    (picture,) = re.findall(r"!\[.+\]\((.+)\)", README.read_text())
    assert (ROOT / picture).stat().st_size < 150_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    links = [
        link.partition("#")
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", page.read_text()))
        if "://" not in link
    ]
    targets = [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in links]
    assert [str(path) for path, _ in targets if not path.exists()] == []
    headed = [(path, anchor) for path, anchor in targets if path.suffix == ".md" and anchor]
    assert [(path.name, anchor) for path, anchor in headed if anchor not in anchors(path)] == []


@pytest.mark.parametrize("quote", re.findall(r"^\| \*(.+?)\*", TROUBLE, re.MULTILINE))
def test_what_the_page_of_troubles_quotes_is_said(quote: str) -> None:
    sources = "".join(path.read_text() for path in (ROOT / "ci_eval").rglob("*.py"))
    said = re.sub(r'"\s*f?"', "", sources)
    parts = [part.strip() for part in re.split(r"\b[NM]\b|…", quote)]
    assert [part for part in parts if part not in said] == []
