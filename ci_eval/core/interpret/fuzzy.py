"""The fit of a typed word to a candidate: what editors do when they filter and order a list while a person types.

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
    """Return the points of the best way to find `typed` in `candidate`; None if there is none. 0 for nothing typed."""
    low, low_typed = candidate.lower(), typed.lower()
    if low.startswith(low_typed):
        same = sum(map(str.__eq__, typed, candidate))
        return START + (len(typed) - 1) * RUN + len(typed) * LETTER + same * SAME_CASE if typed else 0
    # This test is cheap, and the table below is not.
    if not _is_subsequence(low_typed, low):
        return None
    best = _best(typed, low_typed, candidate, low)
    # An impossible way has about NEVER points, but not exactly.
    return best if best > NEVER // 2 else None


def _is_subsequence(letters: str, low: str) -> bool:
    at = 0
    for letter in letters:
        at = low.find(letter, at) + 1
        if not at:
            return False
    return True


def _best(typed: str, low_typed: str, candidate: str, low: str) -> int:
    starts = [_starts_word(candidate, at) for at in range(len(candidate))]
    # For each index of the candidate: the most points if the last letter so far is found there.
    previous = [NEVER] * len(candidate)
    for number, letter in enumerate(low_typed):
        here = [NEVER] * len(candidate)
        reached = NEVER
        for at, character in enumerate(low):
            if number and at >= 2:
                # A gap is at least one character.
                reached = max(reached, previous[at - 2])
            if character != letter:
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
    """Return whether a word starts at the index. Examples are `C` in `getClass`, `c` in `get_class`, `2` in `utf2`, and
    the beginning; leading `_`, `$`, `@` count as none."""
    if at == 0:
        return True
    before, here = text[at - 1], text[at]
    return (here.isalnum() and not before.isalnum()) or (here.isupper() and not before.isupper())
