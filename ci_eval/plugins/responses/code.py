"""A reader of the code in an answer to a record: in the last fence that is not the prompt's own text."""

from __future__ import annotations

import re

from ci_eval.plugins.responses.fences import find_fences
from ci_eval.plugins.responses.marks import fence_tags


def extract_code(answer: str, language: str, prompt: str = "") -> str | None:
    """Return the code in an answer without thoughts and tokens; None if the fence is missing that was asked for.

    Fences that name another language, and those that repeat a text of the prompt, are none. The last closed one counts;
    if no fence is closed, the last one, which was cut off.
    """
    tags = fence_tags(language)
    fences = [fence for fence in find_fences(answer) if fence.tag in tags]
    own = [fence for fence in fences if not fence.text.strip() or f"\n{fence.text.strip()}\n" not in f"\n{prompt}\n"]
    chosen = [fence for fence in own if fence.is_closed] or own
    return _strip_numbers(chosen[-1].text.strip("\n")) if chosen else None


_NUMBERED = re.compile(r"[ \t]*(?P<number>\d{1,4})[:.)|]?(?:[ \t](?P<code>.*))?")


def _strip_numbers(code: str) -> str:
    """Return numbered lines without their numbers, which count up by one, and without the one blank after each."""
    matches = [_NUMBERED.fullmatch(line) for line in code.split("\n")]
    numbers = [int(match["number"]) for match in matches if match]
    is_numbered = len(matches) > 1 and numbers == [*range(numbers[0], numbers[0] + len(matches))] if numbers else False
    return "\n".join(match["code"] or "" for match in matches if match) if is_numbered else code
