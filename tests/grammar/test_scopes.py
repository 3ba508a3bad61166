"""Namespaces, from the innermost out."""

from __future__ import annotations

from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope

MODULE = Scope("module", names={"os": Origin(package="os"), "x": Origin(package="module")})
CLASS = Scope("class", MODULE)
METHOD = Scope("function", CLASS, names={"x": Origin(package="method")}, self_name="self")
BLOCK = Scope("block", METHOD)


def test_the_innermost_definition_counts() -> None:
    assert BLOCK.owner("x") is METHOD
    assert (BLOCK.find("x").package, CLASS.find("x").package, BLOCK.find("os").package) == ("method", "module", "os")
    assert BLOCK.find("nobody") is UNKNOWN


def test_the_class_is_known_by_the_name_of_its_instance() -> None:
    assert BLOCK.find_instance_class("self") is CLASS
    assert BLOCK.find_instance_class("this") is None


def test_the_nearest_of_a_kind_is_found() -> None:
    assert BLOCK.enclosing("class") is CLASS
    assert MODULE.enclosing("class") is None
