"""The object that a call is just being written on."""

from __future__ import annotations

from textwrap import dedent

import pytest

from ci_eval.plugins.mining.usages.texts import find_dialect, infer_usages
from tests.mining.usages.mined import PATHS

PYTHON = """\
from a import Box
def f(p):
    b = Box(p)
    b.open()
    b.|
    if b.full():
        b.close()
"""
JAVA = """\
import a.Box;
class C {
    void f(Box b) {
        b.open();
        b.|
        if (b.full()) { b.close(); }
    }
}
"""


def found(code: str, language: str = "python") -> list[tuple[str, str, tuple[str, ...]]]:
    """Type, kind of definition and calls of each usage at the bar."""
    path = PATHS[language]
    dialect = find_dialect(path)
    assert dialect
    before, _, after = dedent(code).partition("|")
    usages = infer_usages(before, after, path, dialect)
    return [(each.type, each.definition.kind, each.calls) for each in usages]


def test_the_rest_of_the_method_counts_and_the_call_itself_does_not() -> None:
    assert found(PYTHON) == [("a.Box", "NEW", ("open", "full", "close"))]
    assert found(JAVA, "java") == [("a.Box", "PARAM", ("open", "full", "close"))]


@pytest.mark.parametrize("rest", ["|(1)\n", "|\n", "|", "| (1)\n", "|.x\n", "|put(1)\n"])
def test_it_may_be_written_in_any_way(rest: str) -> None:
    (usage,) = found(f"from a import Box\ndef f(b: Box):\n    b.open()\n    x = b.{rest}")
    assert usage == ("a.Box", "PARAM", ("open",))


@pytest.mark.parametrize("code", ["from a import Box\nBox|()\n", "def f(b):\n    b.|\n", "import a\na.|\n", "# x.|\n"])
def test_there_is_none_where_no_member_is_written_or_the_type_is_not_known(code: str) -> None:
    assert found(code) == []


def test_what_the_type_inherits_from_follows_the_nearest_first() -> None:
    code = """\
        from a import Box
        class Crate(Box): pass
        class Chest(Crate, dict): pass
        def f():
            c = Chest()
            c.|
        """
    assert [type_ for type_, _, _ in found(code)] == ["shop.cart.Chest", "shop.cart.Crate", "builtins.dict", "a.Box"]
    java = "import a.Box;\nclass C extends Box {\n    static void f(C c) { c.|; }\n}\n"
    assert [type_ for type_, _, _ in found(java, "java")] == ["C", "a.Box"]


def test_classes_that_inherit_from_each_other_end_somewhere() -> None:
    code = "class A(B): pass\nclass B(A): pass\ndef f():\n    a = A()\n    a.|\n"
    assert len(found(code)) <= 3


def test_a_text_that_is_too_large_tells_nothing() -> None:
    assert found("x = 1\n" * 200_000 + "d = {}\nd.|\n") == []


def test_of_other_languages_there_is_nothing() -> None:
    assert find_dialect("a.go") is None
