"""How well a typed word fits a candidate: what editors do when they filter and order a list while a person types.

After what VS Code documents of itself: the letters of the word must stand in the candidate in their order, whatever
their case, the first of them where a word of the candidate starts (`editor.suggest.matchOnWordStartOnly`). The score
prefers beginnings, starts of words, runs of letters, and the same case.
"""

from __future__ import annotations

START, WORD_START, RUN, SAME_CASE, LETTER, GAP = 8, 5, 6, 1, 1, -2
"""Points for a letter at the beginning, at the start of another word, right behind the letter before it, in the same
case, for any letter, and for a gap before it."""

NEVER = -(10**6)


def score(typed: str, candidate: str) -> int | None:
    """The points of the best way to find `typed` in `candidate`; None if there is none. 0 for nothing typed."""
    low, wanted = candidate.lower(), typed.lower()
    if low.startswith(wanted):
        same = sum(map(str.__eq__, typed, candidate))
        return START + (len(typed) - 1) * RUN + len(typed) * LETTER + same * SAME_CASE if typed else 0
    if not _is_subsequence(wanted, low):
        return None
    best = _best(typed, wanted, candidate, low)
    return best if best > NEVER // 2 else None


def _is_subsequence(wanted: str, low: str) -> bool:
    at = 0
    for letter in wanted:
        at = low.find(letter, at) + 1
        if not at:
            return False
    return True


def _best(typed: str, wanted: str, candidate: str, low: str) -> int:
    """Over all ways: for each letter of the word, the best score if it is found at each place of the candidate."""
    starts = [_starts_word(candidate, at) for at in range(len(candidate))]
    previous = [NEVER] * len(candidate)
    for number, letter in enumerate(wanted):
        here = [NEVER] * len(candidate)
        reached = NEVER
        for at, found in enumerate(low):
            if number and at >= 2:
                reached = max(reached, previous[at - 2])
            if found != letter:
                continue
            points = LETTER + SAME_CASE * (candidate[at] == typed[number])
            bonus = START if at == 0 else WORD_START if starts[at] else 0
            if not number:
                here[at] = points + bonus if starts[at] else NEVER
            else:
                run = previous[at - 1] + RUN if at else NEVER
                here[at] = points + max(run, reached + GAP + bonus)
        previous = here
    return max(previous, default=NEVER)


def _starts_word(text: str, at: int) -> bool:
    """`C` in `getClass`, `c` in `get_class`, `2` in `utf2`, and the beginning; leading `_`, `$`, `@` count as none."""
    if at == 0:
        return True
    before, here = text[at - 1], text[at]
    return (here.isalnum() and not before.isalnum()) or (here.isupper() and not before.isupper())
