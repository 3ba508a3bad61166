"""What is special about Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.languages.python import LANGUAGE, see_names


def test_what_the_grammar_cannot_read_is_measured_and_left_out() -> None:
    found = LANGUAGE.extract("good = ok\n!!! lost $$$\n", "a.py", {})
    assert [token.text for token in found.tokens] == ["ok"]
    assert 0 < found.unparsable < 1


def test_offsets_count_code_points() -> None:
    text = 'name = "𝒳é"\nprint(name)\n'
    assert [text[t.offset : t.offset + len(t.text)] for t in LANGUAGE.extract(text, "a.py", {}).tokens] == [
        "print",
        "name",
    ]


@given(text=st.text(max_size=300))
def test_every_token_stands_where_it_says(text: str) -> None:
    for token in LANGUAGE.extract(text, "a.py", {}).tokens:
        assert text[token.offset : token.offset + len(token.text)] == token.text


SEEN = """
from os import path

class A:
    size = 1
    def member(self, size_of):
        for one in [size for other in [1]]: print(one)
        def inner(): return size_of

    names = [each for each in size]

def function():
    global later
    later = 1
    print(later)
"""


@pytest.mark.parametrize(
    ("token", "name", "barred"),
    [
        ("one)", "member", True),
        ("one)", "size", True),
        ("one)", "A", False),
        ("one)", "path", False),
        ("one)", "size_of", False),
        ("one)", "later", False),
        ("one)", "len", False),
        ("one)", "__class__", False),
        ("one)", "unknown", False),
        ("size_of\n", "size_of", False),
        ("size_of\n", "size", True),
        ("size]", "size", False),
        ("later)", "member", False),
    ],
)
def test_a_bare_member_of_a_class_is_barred_in_its_methods(token: str, name: str, barred: bool) -> None:
    names = see_names(SEEN, "a.py")
    assert names.is_barred(SEEN.index(token), name, is_member=False) is barred


def test_a_name_has_its_origin_only_where_it_is_visible() -> None:
    names, inside, outside = see_names(SEEN, "a.py"), SEEN.index("size_of\n"), SEEN.index("later)")
    assert [names.origin(inside, name) for name in ("size_of", "path", "len", "size")] == [
        "local",
        "file",
        "builtin",
        "",
    ]
    assert names.origin(outside, "size_of") == ""
    assert names.is_standard("os.path")
    assert not names.is_standard("flask")


def test_a_file_that_imports_all_names_of_a_module_is_not_judged() -> None:
    text = "from a import *\n\nclass A:\n    def b(self):\n        print(self)\n"
    assert see_names(text, "a.py").is_barred(text.index("self)"), "b", is_member=True) is None
