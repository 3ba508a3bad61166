"""What editors colour in a text."""

from __future__ import annotations

import pytest

from ci_eval.core.grammar.colours import colour_file, colours


@pytest.mark.parametrize(
    ("grammar", "text", "expected"),
    [
        ("python", 'if x: # why\n    y = "é" in z\n', [("if", "K"), ("# why", "C"), ('"é"', "S"), ("in", "K")]),
        ("java", 'class A { String s = "x"; /* é */ }', [("class", "K"), ('"x"', "S"), ("/* é */", "C")]),
        ("go", "package a // b\nvar c = `d`\n", [("package", "K"), ("// b", "C"), ("var", "K"), ("`d`", "S")]),
        ("typescript", "const a: string = 'b'", [("const", "K"), ("'b'", "S")]),
    ],
)
def test_keywords_strings_and_comments_have_colours(grammar: str, text: str, expected: list[tuple[str, str]]) -> None:
    found = [(text[begin:end], colour) for begin, end, colour in colours(text, grammar)]
    # Whether the name of a built-in type is a keyword is the grammar's to say.
    assert [each for each in found if each[0] != "string"] == expected


def test_the_longest_end_of_a_name_decides_about_the_grammar() -> None:
    text = "# a comment in one of them\n"
    assert colour_file("a.d.ts", text, {".ts": "python", ".d.ts": "go"}) == []
    assert colour_file("a.d.ts", text, {".ts": "python"}) == [(0, len(text) - 1, "C")]
    assert colour_file("a.d.ts", text, {".go": "go"}) == []


def test_plain_text_which_has_no_grammar_has_no_colours() -> None:
    assert colour_file("a.txt", "one two", {"": ""}) == []
