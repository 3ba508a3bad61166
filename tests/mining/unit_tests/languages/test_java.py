"""Tests of Java are paired with methods of the class that theirs is named after."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mining.unit_tests.pairs import fate, mined, pairs, shown

CODE = """\
package a.b;

public class Box {
    public int take(String text) { return 1; }
    public int take(String text, int n) { return n; }
    public int half() { return 2; }
    public int all(Object... items) { return 3; }
    public abstract int size();
}
"""
MAIN, TEST = "src/main/java/a/b/Box.java", "src/test/java/a/b/BoxTest.java"


def of(tmp_path: Path, body: str, name: str = "BoxTest", path: str = TEST) -> dict[object, object]:
    test = f"package a.b;\nclass {name} {{\n{body}\n}}\n"
    return pairs(mined(tmp_path, "java", {MAIN: CODE, path: test}))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("@Test void testHalf() { x(); }", {"BoxTest.testHalf": "Box.half"}),
        ("@Test public void half() { box.half(); }", {"BoxTest.half": "Box.half"}),
        ("@Test void half_of_one() { x(); }", {"BoxTest.half_of_one": "Box.half"}),
        ("@Test void testHalfOfOne() { box.half(); box.all(); }", {"BoxTest.testHalfOfOne": "Box.half"}),
        ("@Test void testHalfOfOne() { x(); }", {}),
        ("@Test void works() { box.half(); box.half(); }", {"BoxTest.works": "Box.half"}),
        ("@Test void works() { box.half(); box.all(); }", {}),
        ("@Test void works() { Other.half(); }", {}),
        ("@Test void works() { run(box::half); }", {"BoxTest.works": "Box.half"}),
        ("@ParameterizedTest @ValueSource void half(int n) { box.half(); }", {"BoxTest.half": "Box.half"}),
        ("@Nested class Half { @Test void one() { box.half(); } }", {"BoxTest.one": "Box.half"}),
        ("@org.junit.Test void half() { box.half(); }", {"BoxTest.half": "Box.half"}),
        ("void testHalf() { box.half(); }", {}),
        ("@Test void testSize() { box.size(); }", {}),
        ("} @Test void half() { box.half(); } class Last {", {}),
    ],
)
def test_a_test_is_paired_by_name_or_else_by_the_only_method_that_it_calls(
    tmp_path: Path, body: str, expected: dict[object, object]
) -> None:
    assert of(tmp_path, body) == expected


@pytest.mark.parametrize(
    ("call", "lines"),
    [('take("a")', (4, 4)), ('take("a", 1)', (5, 5)), ("all()", (7, 7)), ("all(1, 2, 3)", (7, 7))],
)
def test_the_number_of_arguments_tells_overloads_apart(tmp_path: Path, call: str, lines: tuple[int, int]) -> None:
    test = f"package a.b;\nclass BoxTest {{ @Test void works() {{ box.{call}; }} }}\n"
    (line,) = mined(tmp_path, "java", {MAIN: CODE, TEST: test}).lines
    assert line.meta["focalLines"] == lines


def test_a_test_of_two_overloads_is_of_none(tmp_path: Path) -> None:
    test = 'package a.b;\nclass BoxTest { @Test void testTake() { box.take("a"); box.take("a", 1); } }\n'
    assert fate(mined(tmp_path, "java", {MAIN: CODE, TEST: test})) == "overloaded"


@pytest.mark.parametrize("name", ["TestBox", "BoxTests", "BoxTestCase", "BoxIT", "BoxHalfTest"])
def test_the_class_of_tests_is_named_after_that_of_the_method(tmp_path: Path, name: str) -> None:
    assert of(tmp_path, "@Test void half() { box.half(); }", name) == {f"{name}.half": "Box.half"}


def test_a_class_of_the_same_name_in_another_package_is_not_meant(tmp_path: Path) -> None:
    files = {MAIN: CODE, "src/main/java/c/Box.java": CODE.replace("a.b", "c")}
    test = "package c;\nclass BoxTest { @Test void half() { half(); } }\n"
    (line,) = mined(tmp_path, "java", {**files, "BoxTest.java": test}).lines
    assert line.meta["focalPath"] == "src/main/java/c/Box.java"


def test_a_name_that_is_that_of_a_method_elsewhere_rules_out_what_is_only_called(tmp_path: Path) -> None:
    files = {
        MAIN: CODE,
        "src/main/java/a/b/Shape.java": "package a.b;\nclass Shape { boolean equal() { return 1; } }\n",
    }
    test = "package a.b;\nclass BoxTest { @Test void testEqual() { box.half(); } }\n"
    assert fate(mined(tmp_path, "java", {**files, TEST: test})) == "no function"


CONTEXT = """\
/* A licence. */
package a.b;

import org.junit.Test;

/** Tests. */
@RunWith(X.class) // runs
public class BoxTest extends Base {
    private int n = 1; // one
    static { n(); }

    public BoxTest() { super(); }

    @Before
    public void prepare() {
        // comment
        n = 2;
    }

    @Override public void setUp() { n = 3; }

    public int help(int a) { return a; }

    private int hidden() { return 0; }

    @Test public void other() { box.all(); }

    @Nested
    class Inner {
        int m;
        @Test void testHalf() { box.half(); /* half */ }
    }

    class Unused { }
}
"""


def test_the_context_has_fields_fixtures_and_public_signatures_without_comments(tmp_path: Path) -> None:
    found = mined(tmp_path, "java", {MAIN: CODE, TEST: CONTEXT})
    line = next(line for line in found.lines if line.meta["focal"] == "Box.half")
    assert (
        shown(line, "test_func_context")
        == """\
package a.b;
import org.junit.Test;
@RunWith(X.class)
public class BoxTest extends Base {
    private int n = 1;
    static { n(); }
    public BoxTest() { super(); }
    @Before
    public void prepare() {
        n = 2;
    }
    @Override public void setUp() { n = 3; }
    public int help(int a);
    @Nested
    class Inner {
        int m;
    }
}"""
    )
