"""The site of the documentation: built strictly, and its number of words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ci_eval
from tests.needs import need_module

ROOT = Path(ci_eval.__file__).parents[1]
WORDS = 30_000
"""The most words on the pages for users; results are pages of their own."""
WORDS_OF_A_PAGE = 2_500


def test_pages_for_users_have_few_words() -> None:
    words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").glob("*.md")}
    assert sum(words.values()) <= WORDS
    assert {name: number for name, number in words.items() if number > WORDS_OF_A_PAGE} == {}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_module("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    arguments = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    ended = subprocess.run(
        arguments, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return folder


def test_the_site_has_each_page(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        assert (site / ("." if name == "README" else name) / "index.html").is_file(), name


def test_links_out_of_the_documentation_lead_to_the_repository(site: Path) -> None:
    page = (site / "ci-github" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'href="https?://[^"]+/blob/main/action\.yml"', page)
    assert 'href="../SECURITY/' in page


def test_a_page_fetches_nothing_from_another_host(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert (
        re.findall(
            r'(?:<script|<img)[^>]*src="(https?:[^"]*)"|<link[^>]*rel="stylesheet"[^>]*href="(https?:[^"]*)"', page
        )
        == []
    )
