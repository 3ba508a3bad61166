"""Which imports of a project are not there, summed up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.core.grammar.imports.missing import MOST, missing
from tests.grammar.imports.there import missing as missing_of
from tests.projects import write


def there(_path: str, text: str) -> Iterator[tuple[str, bool]]:
    yield from ((name, name.islower()) for name in text.split())


def test_the_share_and_the_most_frequent_packages_are_told() -> None:
    assert missing(there, [("a", "A b C"), ("b", "C d")]) == (3 / 5, {"C": 2, "A": 1})
    assert missing(there, [("a", "a b")]) == (0, {})
    assert missing(there, []) == (None, {})


def test_rare_packages_of_many_are_not_named() -> None:
    share, named = missing(there, [("a", " ".join(f"N{number}" for number in range(MOST + 1)))])
    assert (share, len(named)) == (1, MOST)


@pytest.mark.parametrize(
    ("language", "path", "text", "packages"),
    [
        ("python", "a/b.py", "import no.such, os\nfrom .c import d\nfrom .d.e import f\n", ["no", ".c", ".d.e"]),
        ("go", "a.go", 'package a\nimport (\n\t"fmt"\n\tx "example.org/a/b/c"\n)\n', ["example.org/a/b"]),
        ("typescript", "a.ts", "import a from '@b/c/d'\nimport 'e/f'\nimport './g'\n", ["@b/c", "e", "./g"]),
        ("java", "A.java", "import a.C.D;\nimport static a.E.f;\nimport g.h.*;\nimport java.X;\n", ["a", "a", "g.h"]),
        ("cpp", "a.cpp", '#include "no/such.h"\n', ["no/such.h"]),
    ],
)  # fmt: skip
def test_each_language_names_the_package(
    language: str, path: str, text: str, packages: list[str], tmp_path: Path
) -> None:
    root = write(tmp_path / "p", **{path.replace(".", "__"): text})
    assert missing_of(language, root, path, text) == packages
