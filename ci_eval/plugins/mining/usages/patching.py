"""The application of unified diffs, in which recordings hold changes made outside of the editor."""

from __future__ import annotations

import re
from collections.abc import Iterator

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
NO_NEWLINE = "\\"
"""Begins the line that says so of the one before it."""


def apply_patch(text: str, patch: str) -> str:
    """Return the text with a patch of one file. Raises ValueError if it does not fit the text exactly."""
    old, new, at, inside = _lines(text), [], 0, False
    for mark, line, hunk in _parse(patch):
        if hunk:
            # A range of no lines is named by the line before it.
            begin = int(hunk[1]) - (hunk[2] != "0")
            if not at <= begin <= len(old):
                raise ValueError("a change on disk is outside of what is known of the text")
            new += old[at:begin]
            at, inside = begin, True
        elif inside and mark in {" ", "-"}:
            if at >= len(old) or old[at] != line:
                raise ValueError("a change on disk does not fit what is known of the text")
            new += [line] if mark == " " else []
            at += 1
        elif inside and mark == "+":
            new.append(line)
    return "".join([*new, *old[at:]])


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _parse(patch: str) -> Iterator[tuple[str, str, re.Match[str] | None]]:
    """Yield the mark of each line and its text, or the hunk that begins at the line."""
    lines = patch.split("\n")
    for number, line in enumerate(lines):
        ends = not "".join(lines[number + 1 : number + 2]).startswith(NO_NEWLINE)
        yield line[:1], line[1:] + ("\n" if ends else ""), HUNK.match(line)
