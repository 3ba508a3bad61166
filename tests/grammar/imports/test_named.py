"""The files that imports name, by one rule for all languages."""

from __future__ import annotations

import pytest

from ci_eval.core.grammar.imports.named import Modules, read_module_names

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
