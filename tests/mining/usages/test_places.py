"""Where the objects of a text are, and where the next call on them would be written."""

from __future__ import annotations

from textwrap import dedent

import pytest

from ci_eval.core.model import ObjectPlace
from ci_eval.plugins.mining.usages.dialect import ProjectContext
from ci_eval.plugins.mining.usages.languages import CATALOG
from ci_eval.plugins.mining.usages.texts import mine
from tests.mining.usages.mined import PATHS

IMPORTS = {"python": "from a import Box\n", "java": "package shop;\nimport a.Box;\n"}


def place(code: str, language: str = "python") -> tuple[ObjectPlace | None, str]:
    """That of the only usage of a.Box, and the text."""
    text = IMPORTS[language] + dedent(code)
    found = mine(text, PATHS[language], CATALOG.load(language), ProjectContext(places=True))
    (usage,) = [each for each in found.usages if each.usage.type == "a.Box"]
    return usage.place, text


def typed(code: str, language: str = "python") -> str:
    """The text with the next call begun, without its imports; "" where there is no place."""
    found, text = place(code, language)
    if found is None:
        return ""
    text = f"{text[: found.line]}\n{found.indent}{found.receiver}.{text[found.line :]}"
    return text.removeprefix(IMPORTS[language])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f():\n    b = Box()\n", "def f():\n    b = Box()\n    b.\n"),
        ("def f():\n    b = Box()  # é\n    b.a()  # x\n    c()\n", "b.a()  # x\n    b.\n    c()\n"),
        ("def f():\n    b = Box()\n    if x:\n        b.a()\n    c()\n", "        b.a()\n        b.\n    c()\n"),
        ("def f():\n    b = Box()\n    if b.a():\n        c()\n    d()\n", "        c()\n    b.\n    d()\n"),
        ("def f():\n    b = Box()\n    return b.a()\n", "b = Box()\n    b.\n    return b.a()\n"),
        ("def f(b: Box):\n    c()\n", "def f(b: Box):\n    b.\n    c()\n"),
        ('def f(b: Box):\n    """Doc."""\n    c()\n', 'def f(b: Box):\n    """Doc."""\n    b.\n    c()\n'),
        ("def f():\n    with Box() as b:\n        c()\n", "as b:\n        b.\n        c()\n"),
        ("def f(b):\n    if isinstance(b, Box):\n        c()\n", "(b, Box):\n        b.\n        c()\n"),
        ("class C:\n    def f(self):\n        self.b = Box()\n", "self.b = Box()\n        self.b.\n"),
        ("def f():\n    b = Box()\n    b.a(\n        1,\n    )\n", "        1,\n    )\n    b.\n"),
        ("def f():\n    b = Box(); b.a(); c()\n", "b = Box(); b.a(); c()\n    b.\n"),
        ("def f():\n    b = Box()\n    x = [b.a() for c in d]\n", "x = [b.a() for c in d]\n    b.\n"),
    ],
)
def test_python_goes_on_behind_the_last_call_or_where_the_object_is_known_from(code: str, expected: str) -> None:
    assert typed(code).endswith(expected)


def of_java(body: str) -> str:
    return f"class C {{\n    {body}\n}}\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("void f() {\n        Box b = new Box();\n    }", "new Box();\n        b.\n    }"),
        ("void f(Box b) {\n        c();\n    }", "{\n        b.\n        c();"),
        ("void f(Box b) {\n    }", "{\n        b.\n    }"),
        ("void f(Box b) { b.a(); }", "{ b.a();\n    b. }"),
        ("void f() {\n        for (Box b : l) {\n            c();\n        }\n    }", "b.\n            c();"),
        ("C(Box b) {\n        super(b);\n    }", "super(b);\n        b.\n    }"),
        ("void f() {\n        try (Box b = o()) {\n            c();\n        }\n    }", "b.\n            c();"),
        ("Box f(Box b) {\n        b.a(); // é\n        return b;\n    }", "b.a(); // é\n        b.\n        return"),
    ],
)  # fmt: skip
def test_java_goes_on_there_too(body: str, expected: str) -> None:
    assert expected in typed(of_java(body), "java")


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("def f():\n    Box().a()\n", "python"),
        ("def f(b: Box): return 1\n", "python"),
        (of_java("Box b = new Box(); int x = b.a();"), "java"),
        (of_java("void f() { new Box().a(); }"), "java"),
        ("interface I {\n    void f(Box b);\n}\n", "java"),
    ],
)
def test_there_is_none_for_what_has_no_name_or_no_statement(code: str, language: str) -> None:
    assert place(code, language)[0] is None


def test_a_call_takes_up_its_statement_or_what_stands_behind_the_receiver() -> None:
    found, text = place(
        """\
        def f():
            b = Box()
            é = "ü"
            b.first()
            if b.second():
                b.third(1)
            d = b.fourth(b.fifth())
            b: Box = b.sixth()
        """
    )
    assert found
    taken = [(each.name, text[slice(*(each.statement or (each.begin, each.end)))]) for each in found.calls]
    assert taken == [
        ("first", "b.first()"),
        ("second", ".second()"),
        ("third", ".third(1)"),
        ("fourth", "d = b.fourth(b.fifth())"),
        ("fifth", "d = b.fourth(b.fifth())"),
        ("sixth", ".sixth()"),
    ]
    assert [text[: each.line].count("\n") for each in found.calls] == [3, 4, 5, 6, 6, 7]
    assert [each.indent for each in found.calls] == ["    ", "    ", "        ", "    ", "    ", "    "]


def test_in_java_a_block_may_be_left_empty() -> None:
    found, text = place(of_java("void f(Box b) {\n        b.a();\n    }"), "java")
    assert found
    assert [text[slice(*(each.statement or (0, 0)))] for each in found.calls] == ["b.a();"]


@pytest.mark.parametrize("code", ["def f(b: Box):\n    b.\n    c()\n    b.a(\n", "def f():\n b = Box()\n b.a(x)(\n"])
def test_broken_code_has_places_within_the_text(code: str) -> None:
    found, text = place(code)
    assert found is None or all(0 <= each.begin <= each.end <= len(text) for each in found.calls)
    assert found is None or 0 <= found.line <= len(text)


def test_nothing_is_told_unless_it_is_wanted() -> None:
    found = mine("def f(b: str):\n    b.strip()\n", "a.py", CATALOG.load("python"), ProjectContext())
    assert [each.place for each in found.usages] == [None]
