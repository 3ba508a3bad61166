"""What a file imports, whether that is there, and which files that are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.core.grammar.imports import (
    MOST,
    Modules,
    count_missing,
    most_frequent,
    read_module_names,
    sum_counts,
    sum_packages,
)
from tests.languages.there import missing as missing_of
from tests.languages.there import shares
from tests.projects import write


def test_what_is_no_name_of_a_file_is_not_there(tmp_path: Path) -> None:
    long = "x" * 5000
    assert shares("cpp", tmp_path, "a.cc", f'#include "{long}.h"\n#include "a\0b"\n') == [False, False]
    assert shares("python", tmp_path, "a.py", f"import {long}\n") == [False]
    assert shares("javascript", tmp_path, "a.js", f"import './{long}'; import '{long}'\n") == [False, False]


def there(_path: str, text: str) -> Iterator[tuple[str, bool]]:
    yield from ((name, name.islower()) for name in text.split())


def test_the_share_and_the_most_frequent_packages_are_told() -> None:
    assert count_missing(there, [("a", "A b C"), ("b", "C d")]) == (
        {"a": (3, 2), "b": (2, 1)},
        {"a": {"A": 1, "C": 1}, "b": {"C": 1}},
    )
    assert [*most_frequent(sum_packages([{"A": 1, "C": 1}, {"C": 1}])).items()] == [("C", 2), ("A", 1)]
    assert count_missing(there, [("a", "a b")]) == ({"a": (2, 0)}, {})
    assert count_missing(there, []) == ({}, {})


def test_rare_packages_of_many_are_not_named() -> None:
    counts, absent = count_missing(there, [("a", " ".join(f"N{number}" for number in range(MOST + 1)))])
    assert (counts, len(most_frequent(absent["a"]))) == ({"a": (MOST + 1, MOST + 1)}, MOST)
    assert (sum_counts([(3, 1), (0, 0)]), sum_counts([])) == (((3, 1), 1 / 3), ((0, 0), None))


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


PATHS = [
    "app/__init__.py", "app/models.py", "app/util/names.py", "names.py", "lib/models.py",
    "src/main/java/com/shop/Order.java", "web/index.ts", "web/parts/button.tsx", "include/wave.h", "wave.h",
    "lib/wave.rb", "internal/store/read.go", "internal/store/write.go", "src/Shop/Cart.php", "src/shop/order.rs",
    "Shop/Orders.cs",
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "importing", "found"),
    [
        ("from app.models import User, Order", "app/views.py", ["app/models.py"]),
        ("from .models import (User,", "app/views.py", ["app/models.py"]),
        ("from . import models", "lib/views.py", ["lib/models.py"]),
        ("from .util import names as n", "app/views.py", ["app/util/names.py"]),
        ("import app.util.names, os", "x.py", ["app/util/names.py"]),
        ("import names", "app/util/x.py", ["names.py"]),
        ("from .names import a", "app/util/x.py", ["app/util/names.py"]),
        ("import app", "x.py", ["app/__init__.py"]),
        ("    import models", "lib/x.py", ["lib/models.py"]),
        ("import com.shop.Order;", "A.java", ["src/main/java/com/shop/Order.java"]),
        ("import static com.shop.Order.make;", "A.java", ["src/main/java/com/shop/Order.java"]),
        ("import { Button } from './parts/button'", "web/a.ts", ["web/parts/button.tsx"]),
        ("const b = require('../web/parts/button.tsx')", "api/a.js", ["web/parts/button.tsx"]),
        ("export * from '../web'", "api/a.js", ["web/index.ts"]),
        ('#include "wave.h"', "include/a.c", ["include/wave.h"]),
        ("#include <wave.h>", "a.c", ["wave.h"]),
        ("require_relative '../lib/wave'", "bin/a.rb", ["lib/wave.rb"]),
        ('\t"example.com/shop/internal/store"', "main.go", ["internal/store/read.go", "internal/store/write.go"]),
        ('import st "example.com/shop/internal/store"', "m.go", ["internal/store/read.go", "internal/store/write.go"]),
        ("use Shop\\Cart;", "index.php", ["src/Shop/Cart.php"]),
        ("use crate::shop::order::Order;", "src/main.rs", ["src/shop/order.rs"]),
        ("using Shop.Orders;", "A.cs", ["Shop/Orders.cs"]),
        ("import os", "a.py", []),
        ("important = models", "a.py", []),
        ("# from now on", "a.py", []),
        ("from ..... import x", "a.py", []),
        ("import", "a.py", []),
    ],
)
def test_an_import_names_files(line: str, importing: str, found: list[str]) -> None:
    modules = Modules(PATHS)
    assert (
        list(dict.fromkeys(path for name in read_module_names(line) for path in modules.found(name, importing)))
        == found
    )
