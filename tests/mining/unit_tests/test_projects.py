"""What docs/results/datasets.md says of five real projects is what the pairing finds in them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from ci_eval.core import machine
from ci_eval.fetch import project
from ci_eval.plugins.mining.record import detect_licence
from ci_eval.plugins.mining.unit_tests.languages import CATALOG
from ci_eval.plugins.mining.unit_tests.records import Origin, Selection, read_project, records

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "results" / "datasets.md").read_text()
TABLE: list[list[str]] = [
    [cell.strip(" `") for cell in row.strip("|").split("|")] for row in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)
]
LANGUAGES = next(row[1:] for row in TABLE if row[0] == "counts")
PROJECTS = dict(zip(LANGUAGES, next(row[1:] for row in TABLE if row[0] == "project"), strict=True))


def told(figure: str, language: str) -> str:
    return next(row[1 + LANGUAGES.index(language)] for row in TABLE if row[0] == figure)


@pytest.mark.registry
@pytest.mark.needs("apt-get", "go", "npm")
@pytest.mark.parametrize("language", LANGUAGES)
def test_counts_and_judged_pairs_are_those_of_the_project(language: str) -> None:
    fetched = project.prepare(PROJECTS[language], cache=machine.cache_folder())
    dialect = CATALOG.load(language)
    contents = read_project(fetched.root, dialect, jobs=2, advance=lambda *_: None)
    origin = Origin(info=fetched.info, root=fetched.root, licence=detect_licence(fetched.root))
    mined = records(contents, origin, dialect, Selection(limit=10_000), set())
    counts: dict[str, int] = {
        "files": len(contents.paths),
        "not read": len(contents.troubles),
        "with syntax errors": len(contents.broken),
        "functions": len(contents.functions),
        "tests": len(contents.tests),
        **{str(fate): count for fate, count in (+mined.outcomes).items()},
    }
    for figure, count in counts.items():
        assert told(figure, language) == f"{count:,}", figure
    assert told("licence", language) == origin.licence
    with (DOCS / "judged-pairs.csv").open(newline="") as file:
        judged = {row["id"] for row in csv.DictReader(file) if row["language"] == language}
    assert len(judged) == 50
    assert judged <= {line.id for line in mined.lines}


def test_what_the_page_says_of_the_judged_pairs_is_what_was_judged() -> None:
    with (DOCS / "judged-pairs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for language in LANGUAGES:
        for level in ("high", "low"):
            judged = [row["right"] for row in rows if (row["language"], row["confidence"]) == (language, level)]
            assert told(f"{level} confidence", language) == f"{judged.count('yes')} of {len(judged)}"
