"""Unified diffs."""

from __future__ import annotations

from difflib import unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.mining.usages.patching import apply_patch

lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", "é\r\n", "+\n", "-\n", "\\x\n", "\x0b\n"]), max_size=12)


@given(lines, lines, st.integers(0, 3))
def test_a_patch_gives_the_new_text(old: list[str], new: list[str], context: int) -> None:
    patch = "".join(unified_diff(old, new, "a/x", "b/x", n=context))
    assert apply_patch("".join(old), patch) == "".join(new)


@pytest.mark.parametrize(
    ("old", "hunk", "new"),
    [
        ("a", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n", "b\n"),
        ("a\n", "@@ -1,1 +1,1 @@\n-a\n+b\n\\ No newline at end of file\n", "b"),
        ("a\n", "", "a\n"),
        ("a\n", "@@ -1,1 +0,0 @@\n-a\n", ""),
    ],
)
def test_the_end_of_a_file_may_have_no_line_end(old: str, hunk: str, new: str) -> None:
    assert apply_patch(old, f"--- a/x\t\n+++ b/x\t\n{hunk}") == new


@pytest.mark.parametrize("hunk", ["@@ -1,1 +1,1 @@\n-b\n+c\n", "@@ -9,1 +9,1 @@\n-a\n", "@@ -2,1 +2,1 @@\n a\n"])
def test_a_patch_of_another_text_is_refused(hunk: str) -> None:
    with pytest.raises(ValueError, match="change on disk"):
        apply_patch("a\n", hunk)
