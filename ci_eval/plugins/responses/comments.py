"""A reader of a reviewer's comments in an answer to a record: each after its marker, numbered from 1."""

from __future__ import annotations

import html
import re

from ci_eval.plugins.responses.fences import find_fences

_NUMBER = r"(?:Комментарий|Comment)[ \t]*[#№]?[ \t]*(?P<number>\d{1,2})(?:[ \t]*\([^()\n]{1,80}\))?"
MARKER = re.compile(
    rf"^[*_#>`•+\t -]{{0,8}}{_NUMBER}[*_`]*[ \t]*(?:[:.)—–-]|$)[*_`]*[ \t]*|^(?P<item>\d{{1,2}})[.)][ \t]+|"
    r"(?<=\s)(?:Комментарий|Comment) (?P<inline>\d{1,2}):[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
"""The pattern of a marker: `Комментарий 1:` and `Comment 1:`, as the prompts ask for it, or the number of a list."""
NOTHING = "no comments"
"""The answer that says that there is nothing to remark, in small letters."""
_SIGNS = " \t\n.!*_`"
_RULE = re.compile(r"(?:\n[ \t]*[-*_•]+[ \t]*)+\Z")
"""The pattern of lines between two comments that belong to neither."""
_PLACEHOLDER = re.compile(r"<[^<>\n]+>|…|\.\.\.")


def extract_comments(answer: str) -> list[str] | None:
    """Return the comments in an answer without thoughts and tokens; None if neither a marker nor NO COMMENTS is there.

    The markers count up from 1; other numbers are part of a comment. A placeholder of the prompt is no comment, and
    neither is a single word (`None`, `-`) beside comments of several.
    """
    if answer.strip(_SIGNS).lower() == NOTHING:
        return []
    fences = find_fences(answer.strip())
    if fences and (fences[0].start, fences[0].end) == (0, len(answer.strip().removesuffix("```").rstrip())):
        answer = fences[0].text
    marks: list[re.Match[str]] = []
    for match in MARKER.finditer(answer):
        is_next = int(match["number"] or match["item"] or match["inline"]) == len(marks) + 1
        # A list within a comment has numbers as well: one of comments begins with the answer.
        first = marks[0] if marks else match
        is_list = first["item"] is not None and not answer[: first.start()].strip()
        if is_next and (match["item"] is None or is_list) and (match["item"] is None) == (first["item"] is None):
            marks.append(match)
    if not marks:
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(answer)]
    texts = (_trim(answer[mark.end() : end]) for mark, end in zip(marks, ends, strict=True))
    filled = [text for text in texts if not (_PLACEHOLDER.fullmatch(text) or text.strip(_SIGNS).lower() == NOTHING)]
    return [text for text in filled if " " in text or "\n" in text] or filled


def _trim(text: str) -> str:
    text = _RULE.sub("", text.strip()).rstrip()
    # Entities beside plain signs are what the comment is about.
    return text if "<" in text or ">" in text else html.unescape(text)
