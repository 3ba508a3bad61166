"""The facts about others are checked every half year, and stand in the same words wherever they are used."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "moving-targets.yaml"
FACTS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
DAYS = 180


def is_stale(fact: dict[str, Any], today: date) -> bool:
    return bool(today - fact["checked"] > timedelta(days=DAYS))


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["target"])
def test_a_fact_about_others_was_looked_at_in_the_last_half_year(fact: dict[str, Any]) -> None:
    assert not is_stale(fact, date.today()), f"look at {fact['source']} again: is it still {fact['value']}?"


def test_a_fact_is_stale_after_half_a_year() -> None:
    checked = date(2026, 1, 1)
    assert [is_stale({"checked": checked}, checked + timedelta(days=days)) for days in (DAYS, DAYS + 1)] == [
        False,
        True,
    ]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["target"])
def test_what_relies_on_a_fact_says_it_in_the_same_words(fact: dict[str, Any]) -> None:
    assert set(fact) == {"target", "value", "checked", "source", "texts"}
    assert fact["source"].startswith("https://")
    for path, words in fact["texts"].items():
        assert words in " ".join((ROOT / path).read_text(encoding="utf-8").split()), f"{path} does not say {words!r}"


def test_the_page_refers_to_the_file() -> None:
    assert "](moving-targets.yaml)" in (ROOT / "docs" / "ci-github.md").read_text(encoding="utf-8")
