"""Tests of C# are paired with the method that their names contain and that they call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mining.unit_tests.pairs import fate, mined, pairs, shown

CODE = """\
namespace A;

public static class Box
{
    public static int Take(string text) => 1;
    public static int Take(string text, int n, bool all = false) { return n; }
    public static int TakeAll(params int[] items) { return 3; }
    public static int Half(this int number) { return number / 2; }
}
"""


def of(tmp_path: Path, test: str, attribute: str = "Test") -> dict[object, object]:
    text = f"using X;\nnamespace A.Tests {{ public class BoxTests {{ [{attribute}] public void {test} }} }}\n"
    return pairs(mined(tmp_path, "csharp", {"Box.cs": CODE, "BoxTests.cs": text}))


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('Take_One() { Box.Take("a"); }', {"BoxTests.Take_One": "Box.Take"}),
        ('CanTakeAllOfThem() { Box.TakeAll(1, 2); Box.Take("a"); }', {"BoxTests.CanTakeAllOfThem": "Box.TakeAll"}),
        ("Half() { 4.Half(); }", {"BoxTests.Half": "Box.Half"}),
        ("Half() { Box.Half(4); }", {"BoxTests.Half": "Box.Half"}),
        ("Half() { x?.Half(); }", {"BoxTests.Half": "Box.Half"}),
        ("Half() { Generic.Half<int>(4); }", {}),
        ("Take() { }", {}),
        ('Other() { Box.Take("a"); }', {}),
        ('Mistake() { Box.Take("a"); }', {}),
    ],
)
def test_a_test_is_paired_with_the_method_that_it_names_and_calls(
    tmp_path: Path, test: str, expected: dict[object, object]
) -> None:
    assert of(tmp_path, test) == expected


def test_a_directive_around_an_else_if_hides_no_method(tmp_path: Path) -> None:
    code = CODE.replace(
        "return 3;", "if (n) { return 3; }\n#if NET\n else if (m) { return 4; }\n#endif\n else { return 5; }"
    )
    test = "public class BoxTests { [Fact] public void TakeAll() { Box.TakeAll(1); } }\n"
    assert pairs(mined(tmp_path, "csharp", {"Box.cs": code, "BoxTests.cs": test})) == {
        "BoxTests.TakeAll": "Box.TakeAll"
    }


@pytest.mark.parametrize(
    ("call", "lines"), [('Take("a")', (5, 5)), ('Take("a", 1)', (6, 6)), ('Take("a", 1, true)', (6, 6))]
)
def test_the_number_of_arguments_tells_overloads_apart(tmp_path: Path, call: str, lines: tuple[int, int]) -> None:
    test = f"public class BoxTests {{ [Fact] public void Take() {{ Box.{call}; }} }}\n"
    (line,) = mined(tmp_path, "csharp", {"Box.cs": CODE, "BoxTests.cs": test}).lines
    assert line.meta["focalLines"] == lines


@pytest.mark.parametrize(
    "attribute", ["Fact", "Theory, InlineData(1)", "TestCase(1)", "TestMethod", "NUnit.Framework.TestAttribute"]
)
def test_the_attributes_of_three_frameworks_make_tests(tmp_path: Path, attribute: str) -> None:
    assert of(tmp_path, "Half(int n) { n.Half(); }", attribute) == {"BoxTests.Half": "Box.Half"}


def test_methods_of_two_classes_make_a_test_of_none_unless_one_is_named_like_the_tests(tmp_path: Path) -> None:
    files = {"Box.cs": CODE, "Cup.cs": "class Cup { int Half(int n) { return n; } }\n"}
    test = "public class {0} {{ [Fact] public void Half() {{ x.Half(1); }} }}\n"
    assert fate(mined(tmp_path, "csharp", {**files, "T.cs": test.format("AllTests")})) == "several functions"
    assert pairs(mined(tmp_path, "csharp", {**files, "T.cs": test.format("CupTests")})) == {"CupTests.Half": "Cup.Half"}


CONTEXT = """\
// A licence.
#if NET
using Xunit;
#endif
namespace A.Tests
{
    using A;

    public class BoxTests : Base
    {
        private int n = 1;

        [Fact]
        public void Half()
        {
            4.Half();
        }

        [SetUp]
        public void Prepare() { n = 2; }

        [Fact]
        public void Other() { x(); }
    }

    public class Unused { }
}
"""


def test_the_context_has_usings_and_the_class_without_its_tests(tmp_path: Path) -> None:
    (line,) = mined(tmp_path, "csharp", {"Box.cs": CODE, "BoxTests.cs": CONTEXT}).lines
    assert (
        shown(line, "test_func_context")
        == """\
using Xunit;
using A;
    public class BoxTests : Base
    {
        private int n = 1;

        [SetUp]
        public void Prepare() { n = 2; }

    }"""
    )
    assert line.references == ("[Fact]\npublic void Half()\n{\n    4.Half();\n}",)
