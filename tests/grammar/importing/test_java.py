"""Imports of Java are read and taken out."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.grammar.importing.java import SYNTAX
from ci_eval.core.import_syntax import Project

TEXT = """package a;

import java.util.List;
import java.util.Map.Entry; // of a map
import java.util.*;
import static java.util.Map.entry;
import java.awt.Point; import java.awt.Color;
import b.Same;
import c.Same;

class A {
    String text = "import x.Y;";
}
"""


def test_single_types_can_be_removed() -> None:
    imports = {item.name: item for item in SYNTAX.read(TEXT) if item.removable}
    assert {name: TEXT[item.begin : item.end] for name, item in imports.items()} == {
        "List": "import java.util.List;\n",
        "Entry": "import java.util.Map.Entry; // of a map\n",
    }


def test_a_type_is_known_by_its_package_or_its_outer_type(tmp_path: Path) -> None:
    imports = {item.name: item for item in SYNTAX.read(TEXT)}
    assert (imports["Entry"].module, imports["entry"].module) == ("java.util.Map", "java.util.Map")
    modules = SYNTAX.modules(Project(tmp_path, None))
    assert modules.origin("A.java", "java.util", "List") != modules.origin("A.java", "java.awt", "List")
    assert modules.identify("A.java", "java.util") == modules.identify("b/B.java", "java.util")
