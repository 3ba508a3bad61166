"""What is special about Java, and what javac thinks of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.core.import_syntax import Project
from ci_eval.plugins.languages.java import LANGUAGE
from ci_eval.plugins.languages.java.declarations import SYNTAX
from tests.projects import write

ROOT = Path(__file__).parent.parent.parent

SHAPES = """package a.b;
import java.util.*;
import static java.lang.Math.max;
public class Shapes<T extends Comparable<T>> {
    enum Color { RED, GREEN; Color next() { return values()[(ordinal() + 1) % values().length]; } }
    record Point(int x, int y) { Point { if (x < 0) throw new IllegalArgumentException("x" + y); } }
    private static final Map<String, List<Point>> ALL = new HashMap<>();
    int count;
    T best(List<? extends T> given, int count) {
        this.count = max(count, given.size());
        Runnable task = () -> ALL.forEach((name, points) -> points.stream().map(Point::x).forEach(System.out::println));
        for (T each : given) if (each instanceof Comparable<?> c && c != null) return each;
        Object size = new Object() { int count = 1; @Override public String toString() { return "" + count; } };
        switch (Color.RED.next()) { case RED: task.run(); break; default: ALL.clear(); }
        return Optional.ofNullable(given.get(0)).map(t -> (T) t).orElse(null);
    }
}
"""


@pytest.mark.needs("javac")
@pytest.mark.engine
def test_javac_gives_nearly_every_name_the_same_kind(tmp_path: Path) -> None:
    root = write(tmp_path, a__java=SHAPES.replace("Shapes", "a"), b__java=SHAPES.replace("Shapes", "b"))
    argv = [sys.executable, str(ROOT / "benchmarks" / "kinds_java.py"), f"path:{root}"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    names, share = re.search(r"([\d,]+) names .* agree on ([\d.]+)%", said).groups()  # type: ignore[union-attr]
    assert int(names) > 100
    assert float(share) >= 98, said


def test_a_file_without_a_package_belongs_to_its_folder() -> None:
    (token,) = LANGUAGE.extract("class A { A() { B.c(); } }", "x/y/A.java", {"x.y": frozenset({"B"})}).tokens[1:2]
    assert (token.text, token.properties.package) == ("B", "x.y")


def test_the_keyword_of_an_annotation_type_is_a_token() -> None:
    tokens = LANGUAGE.extract("public @interface A { int value(); }\n", "A.java", {}).tokens
    assert [(token.offset, token.text) for token in tokens] == [(0, "public"), (8, "interface"), (22, "int")]


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
