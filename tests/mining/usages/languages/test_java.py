"""Object usages in Java."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.core.model import Definition
from ci_eval.plugins.mining.usages.dialect import MinedText
from ci_eval.plugins.mining.usages.languages.java import project_types
from tests.mining.usages.mined import only, text

OWN = frozenset(["shop.Cart", "shop.Till"])


def in_method(code: str, parameters: str = "", members: str = "") -> str:
    """A file with one method."""
    head = "package shop;\nimport a.b.Box;\nimport java.util.*;\nimport java.io.*;\n"
    return f"{head}class Cart<T> {{\n{members}\nvoid put({parameters}) {{\n{code}\n}}\n}}\n"


DEFINITIONS = {
    "Box box = new Box(1); box.go();": Definition(kind="NEW", member="a.b.Box"),
    "var box = new Box(1); box.go();": Definition(kind="NEW", member="a.b.Box"),
    "Box box = Box.make(); box.go();": Definition(kind="RETURN", member="a.b.Box.make"),
    "Box box; box = new Box(); box.go();": Definition(kind="NEW", member="a.b.Box"),
    "Box box = null; box.go();": Definition(kind="CONSTANT"),
    "for (Box box : boxes) box.go();": Definition(kind="LOOP"),
    "try (Box box = open()) { box.go(); }": Definition(kind="WITH", member="open"),
    "try { x(); } catch (Box | Error box) { box.go(); }": Definition(kind="EXCEPT"),
    "if (x instanceof Box box) { box.go(); }": Definition(kind="CAST"),
    "((Box) x).go();": Definition(kind="CAST"),
    "new Box().go();": Definition(kind="NEW", member="a.b.Box"),
    "a.b.Box box = make(); box.go();": Definition(kind="RETURN", member="make"),
    "Box[] boxes = many(); boxes[0].go();": Definition(),
    "f((Box box) -> box.go());": Definition(kind="PARAM", member="shop.Cart.put()", argument=0),
}


@pytest.mark.parametrize("code", DEFINITIONS)
def test_an_object_comes_from_where_the_code_says(code: str) -> None:
    assert only(in_method(code), "a.b.Box", "java") == (DEFINITIONS[code], ("go",))


def test_parameters_fields_and_methods_of_the_file_have_their_declared_types() -> None:
    members = "private final Box field = new Box(); Box make() { return null; }"
    definition, calls = only(
        in_method("box.one(); field.two(); make().three();", "int i, Box box", members), "a.b.Box", "java"
    )
    assert calls == ("one", "two", "three")
    assert definition == Definition(kind="RETURN", member="shop.Cart.make")
    definition, _ = only(in_method("this.field.two();", members=members), "a.b.Box", "java")
    assert definition == Definition(kind="FIELD", member="shop.Cart.field")


TYPES = {
    "String": "java.lang.String",
    "List<Box>": "java.util.List",
    "Reader": "java.io.Reader",
    "Map.Entry<String, Box>": "java.util.Map.Entry",
    "q.r.S": "q.r.S",
    "Till": "shop.Till",
    "Other": "shop.Other",
}


@pytest.mark.parametrize("written", TYPES)
def test_types_are_fully_qualified(written: str) -> None:
    (usage,) = text(in_method("x.go();", f"{written} x"), "java", OWN).usages
    assert (usage.usage.type, usage.own) == (TYPES[written], TYPES[written].startswith("shop."))


def test_a_package_imported_as_a_whole_is_asked_for_what_is_known_nowhere() -> None:
    (usage,) = text(
        "package shop; import x.y.*; import java.util.*; class A { void f(Z z) { z.go(); } }", "java"
    ).usages
    assert usage.usage.type == "x.y.Z"
    assert not text("import x.y.*; import v.w.*; class A { void f(Z z) { z.go(); } }", "java").usages


RECEIVERS = {
    "Box.make();": "class",
    "Map.Entry.of();": "class",
    "this.put();": "this",
    "super.put();": "this",
    "unknown.go();": "unknown",
    "t.go();": "type parameter",
    "many.clone();": "array",
    '"a".length();': "object",
}


@pytest.mark.parametrize("code", RECEIVERS)
def test_what_is_no_object_is_counted_for_what_it_is(code: str) -> None:
    assert text(in_method(code, "T t, Box... many"), "java").receivers == {RECEIVERS[code]: 1}


def test_a_type_of_a_library_gives_its_heirs_their_context() -> None:
    (usage,) = text(
        "package shop; import a.b.Box; class Cart extends Till implements Runnable {"
        " void f() { new Thread() { @Override public void run() { box.go(); } Box box; }; } }",
        "java",
        OWN,
    ).usages
    assert usage.method == "shop.Cart.f().Thread.run()"
    assert (usage.usage.class_, usage.usage.method) == ("java.lang.Thread", "java.lang.Thread.run()")
    (usage,) = text("import a.b.Box; class A implements Runnable { void run(Box b) { b.go(); } }", "java").usages
    assert (usage.usage.class_, usage.usage.method) == ("java.lang.Runnable", "A.run(Box)")
    (usage,) = text("class A { @Override public String toString() { return x.trim(); } String x; }", "java").usages
    assert (usage.method, usage.usage.method) == ("A.toString()", "java.lang.Object.toString()")


def test_what_is_whole_in_a_broken_text_is_found() -> None:
    found = text(in_method("box.open(); box. if ( box.close();", "Box box"), "java")
    assert found.broken
    assert "open" in next(each.usage.calls for each in found.usages if each.usage.type == "a.b.Box")


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 1000), st.text(max_size=20))
def test_no_text_raises(begin: int, end: int, other: str) -> None:
    code = in_method("".join(DEFINITIONS))
    first, last = sorted((begin % len(code), end % len(code)))
    assert isinstance(text(code[:first] + other + code[last:], "java"), MinedText)


@pytest.mark.parametrize(
    "deep",
    ["{" * 20_000, "class A {" * 2_000, "a" + ".b()" * 3_000, "x = " + "-" * 20_000 + "1;"],
    ids=["braces", "classes", "calls", "signs"],
)
def test_no_nesting_is_too_deep(deep: str) -> None:
    assert isinstance(text(deep, "java"), MinedText)


def test_types_are_named_for_their_paths() -> None:
    assert project_types(["a/b/C.java", "src/main/java/d/E.java", "F.java"]) == {"a.b.C", "d.E", "F"}
