"""What is special about Scala: comments are not shown to the grammar, which is slow in them; soft keywords."""

from __future__ import annotations

import pytest

from ci_eval.core.model import Kind
from ci_eval.plugins.languages.scala import LANGUAGE


@pytest.mark.parametrize(
    "text",
    [
        "val a = b /* é \n c */ + d // e\n",
        'val a = b + \'"\' /* c */ + d + "/* e"\n',
        'val a = b + """ /* c " """ + d /* e */\n',
        "val a = b /* c /* e */ f */ + d\n",
        'val a = b + s"${f("/*")}" + d /* e */\n',
        'val a = b + s"${f("/*")}" + d\n',
    ],
)
def test_what_looks_like_a_comment_may_be_none(text: str) -> None:
    found = {token.text: token.offset for token in LANGUAGE.extract(text, "a.scala", {}).tokens}
    assert {"b", "d"} <= found.keys()
    assert found.keys() <= {"val", "b", "d", "f"}
    assert all(text[offset:].startswith(name) for name, offset in found.items())


@pytest.mark.parametrize("code", ["a end b", "a end", "/end */", "end + b", "f(a end b)"])
def test_a_soft_keyword_that_is_a_name_is_one_token(code: str) -> None:
    """The grammar nests the keyword in the name."""
    tokens = LANGUAGE.extract(f"val x = {code}\n", "a.scala", {}).tokens
    assert [token.text for token in tokens].count("end") == 1


@pytest.mark.parametrize("code", ["`e`", "`e`.f", "f(`e`)", "1 + `e`.f"])
def test_a_name_in_backquotes_is_typed_without_them(code: str) -> None:
    text = f"val x = {code}\n"
    (token,) = [token for token in LANGUAGE.extract(text, "a.scala", {}).tokens if token.text == "e"]
    assert token.offset == text.index("e")


@pytest.mark.parametrize("text", ["def f(x: ) = y\n", "class A[] { y }\n", "case class (x: Int) { y }\n"])
def test_a_name_that_is_missing_is_no_token(text: str) -> None:
    """The grammar adds it to the tree, empty."""
    tokens = LANGUAGE.extract(text, "a.scala", {}).tokens
    assert all(token.text for token in tokens)
    assert "y" in [token.text for token in tokens]


def test_a_keyword_before_a_dot_is_a_token() -> None:
    tokens = LANGUAGE.extract("val q = null.asInstanceOf[T]\n", "a.scala", {}).tokens
    assert [token.properties.kind for token in tokens if token.text == "null"] == [Kind.KEYWORD]
