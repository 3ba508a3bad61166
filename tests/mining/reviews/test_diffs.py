"""Of a file's diff, the part that shows one block."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.mining.reviews.diffs import add_arrows, block_diff, format_diff, parse
from tests.mining.reviews.github import NEW, OLD, patch

LINES = st.lists(st.sampled_from(["a", "b", "  c", ""]), min_size=1, max_size=12)


def test_a_block_is_shown_with_what_was_removed_from_it_and_around_the_diff() -> None:
    lines = block_diff(parse(patch(OLD, NEW)), NEW.split("\n"), 5, 7)
    assert format_diff(lines) == " def take(items, n):\n-    return items\n+    found = items[:n]\n+    return found\n"
    assert add_arrows(lines, 6, 6).split("\n")[2] == "+    found = items[:n]        <----------"


def test_what_was_removed_behind_the_last_line_of_a_block_belongs_to_it_if_it_is_indented() -> None:
    old, new = "def f():\n    a\n    b\n\nx\n", "def f():\n    a\nx\n"
    lines = block_diff(parse(patch(old, new)), new.split("\n"), 1, 2)
    assert format_diff(lines) == " def f():\n     a\n-    b\n"


@given(LINES, LINES)
def test_without_what_was_removed_a_block_is_the_new_text(old: list[str], new: list[str]) -> None:
    diff = parse(patch(*("".join(f"{line}\n" for line in each) for each in (old, new))))
    lines = block_diff(diff, new, 1, len(new))
    assert [line.text for line in lines if line.sign != "-"] == new
    assert sum(line.sign == "+" for line in lines) == sum(line.sign == "+" for line in diff)


@given(LINES, LINES)
def test_every_line_of_a_patch_is_read_with_its_number(old: list[str], new: list[str]) -> None:
    diff = parse(patch(*("".join(f"{line}\n" for line in each) for each in (old, new))))
    assert all(line.text == new[line.new - 1] for line in diff if line.sign != "-")
    assert sum(line.sign == "-" for line in diff) - sum(line.sign == "+" for line in diff) == len(old) - len(new)
