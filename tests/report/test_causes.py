"""Suggestions are put into classes, and those that cannot be at a caret are found, by the stored file alone."""

from __future__ import annotations

import pytest

from ci_eval.core.contracts import NamesInScope
from ci_eval.core.grammar.syntax import Continuations
from ci_eval.core.model import Kind, Properties, Session, Status, Suggestion
from ci_eval.core.model.sessions import ELSEWHERE
from ci_eval.core.report.causes import BARRED_KEYWORD, BARRED_NAME, Place
from ci_eval.plugins.languages.python import see_names


def place(text: str, expected: str, names: NamesInScope | None = None) -> Place:
    session = Session(
        id="1",
        file="a.ts",
        offset=text.index(expected),
        expected_text=expected,
        properties=Properties(kind=Kind.VARIABLE),
        status=Status.NO_MATCH,
    )
    keywords = frozenset({"catch", "return", "target"})
    return Place(session, text, keywords, Continuations(text, "typescript"), names)


@pytest.mark.parametrize(
    ("text", "expected", "suggestion", "kind", "cause"),
    [
        ("let x = abc;", "abc", "return", "keyword", BARRED_KEYWORD),
        ("let x = abc;", "abc", "return", "", ""),
        ("let x = abc;", "abc", "target", "variable", ""),
        ("let x = p.then;", "then", "catch", "method", ""),
        ("let x = p.then;", "then", "catch", "", ""),
        ('import abc from "b";', "from", "name", "variable", BARRED_NAME),
    ],
)
def test_a_suggestion_is_barred_only_if_it_can_be_nothing_else(
    text: str, expected: str, suggestion: str, kind: str, cause: str
) -> None:
    assert place(text, expected).barred_by(Suggestion(text=suggestion, kind=kind)) == cause


@pytest.mark.parametrize(
    ("text", "expected", "is_member"),
    [
        ("p.then;", "then", True),
        ("p->then;", "then", True),
        ("at(1)->then;", "then", True),
        ("p::then;", "then", True),
        ("def f() -> Then:", "Then", False),
        ("f(...then);", "then", False),
        ("for (i in 0..then)", "then", False),
    ],
)
def test_a_member_is_after_an_object_not_after_the_arrow_of_a_type_or_a_spread(
    text: str, expected: str, *, is_member: bool
) -> None:
    assert place(text, expected).after_object == is_member


def test_a_name_of_no_scope_is_an_import_only_if_the_engine_adds_one() -> None:
    text = "import json\ntotal = 1\nprint(abc)\n"
    seen = place(text, "abc", see_names(text, "a.py"))
    offered = {"tabnanny": f"{ELSEWHERE}import tabnanny", "_T1": "", "total": "", "print": ""}
    classes = [seen.class_of(Suggestion(text=name, kind="variable", tail=tail)) for name, tail in offered.items()]
    assert classes == ["import", "out of scope", "name", "builtin"]
