"""Ruby's own: what its sample cannot say."""

from __future__ import annotations

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import Language
from ci_eval.core.model import Kind

RUBY: Language = languages.CATALOG.load("ruby")


def found(text: str) -> list[tuple[str, Kind]]:
    tokens = RUBY.extract(text, "a.rb", {}).tokens
    return [(t.text, t.properties.kind) for t in tokens if t.properties.kind != Kind.KEYWORD]


@pytest.mark.parametrize(
    "text", ["a.b", ".c", "A::", "x = [", "module A;", "class A;", "def a;", "f {", "a.(", '"#{', "x + ", "f(k: "]
)
def test_deep_nesting_in_code_is_no_reason_to_fail(text: str) -> None:
    assert 0 <= RUBY.extract("a" + text * 20_000, "a.rb", {}).unparsable <= 1


def test_a_name_is_a_variable_only_after_it_was_assigned() -> None:
    assert found("x\n(x = 1) && x") == [("x", Kind.METHOD_CALL), ("x", Kind.VARIABLE)]


def test_a_method_does_not_see_the_variables_around_it_but_a_block_does() -> None:
    assert found("a = 1\ndef m = a")[-1] == ("a", Kind.METHOD_CALL)
    assert found("a = 1\nm { a }")[-1] == ("a", Kind.VARIABLE)


def test_what_a_block_assigns_is_gone_behind_it() -> None:
    assert found("m { a = 1 }\na")[-1] == ("a", Kind.METHOD_CALL)


@pytest.mark.parametrize(
    ("text", "package", "names"),
    [
        ("module A\n  module B\n    class C\n      class D\n", "A::B", {"C"}),
        ("module A\n  module B\n  end\n  X = 1\nend", "A", {"B", "X"}),
        ("class A\n  X = 1\nend\nmodule B\nend", "", {"A", "B"}),
        ("module A::B\nend", "A::B", set()),
        ("x == 1", "", set()),
    ],
)
def test_the_modules_that_wrap_a_file_are_its_package(text: str, package: str, names: set[str]) -> None:
    assert RUBY.declare is not None
    assert RUBY.declare(text, "a.rb") == (package, frozenset(names))
