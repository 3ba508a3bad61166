"""Code as listings show it."""

from __future__ import annotations

import pytest

from ci_eval.plugins.responses.fences import strip_listing, unescape_lines

NAMES = {"python", "py"}
CODE = "def f():\n    return 1"


@pytest.mark.parametrize(
    ("listing", "tag"),
    [
        (CODE, "python"),
        (f"python\n{CODE}", ""),
        (f"Py\n1: {CODE}".replace("\n    ", "\n2:     "), ""),
        ("@@ -1 +1,2 @@\n-def g():\n+def f():\n     return 1", "diff"),
        ("diff --git a/a b/a\nindex 3f2a1b0..9c8d7e6 100644\n+def f():\n     return 1", "diff"),
        (">>> def f():\n...     return 1\n...\n", "python"),
        ("  9 | def f():\n 10 |     return 1", ""),
        ("1\tdef f():\n2\t    return 1", ""),
    ],
)
def test_what_stands_before_lines_is_no_code(listing: str, tag: str) -> None:
    assert strip_listing(listing, tag, NAMES) == CODE


@pytest.mark.parametrize("code", ["1\n3", "py", "- a\n+ b", "a < b &amp;&amp; c", 'x = "&lt;"', "1 + 1\n2 + 2\nx"])
def test_code_that_looks_like_a_listing_stays(code: str) -> None:
    assert strip_listing(code, "", NAMES) == code


def test_a_line_of_code_in_a_diff_is_no_head_of_it() -> None:
    assert strip_listing("index = 3\n+x = index", "diff", NAMES) == "index = 3\nx = index"


def test_a_line_of_escapes_is_unescaped_unless_it_is_code() -> None:
    assert unescape_lines('a("b\\\\c\\"")\\n\\tb', lambda _: False) == 'a("b\\c"")\n\tb'
    assert unescape_lines("a\\nb", lambda _: True) == "a\\nb"
    assert unescape_lines("a\nb\\nc", lambda _: False) == "a\nb\\nc"
