"""Match a typed word with candidates, as editors do to filter and order a list while a user types.

VS Code's documentation says: the letters of the word must occur in the candidate in order, in any case, and the first
must start a word of the candidate (`editor.suggest.matchOnWordStartOnly`). The score is higher for letters at the
beginning or at the start of a word, for runs of letters, and for the same case.
"""

from __future__ import annotations

from functools import lru_cache

START, WORD_START, RUN, SAME_CASE, LETTER, GAP = 8, 5, 6, 1, 1, -2
"""Points for a letter: at the beginning, at another word's start, in a run, in the same case, anywhere, after a gap."""

NEVER = -(10**6)


def score(typed: str, candidate: str) -> int | None:
    """Return the points of the best match of `typed` in `candidate`; None if nothing matches, 0 if nothing is typed."""
    low, low_typed = candidate.lower(), typed.lower()
    if low.startswith(low_typed):
        same = sum(map(str.__eq__, typed, candidate))
        return START + (len(typed) - 1) * RUN + len(typed) * LETTER + same * SAME_CASE if typed else 0
    # This test is cheap and usually decides; the table below is expensive.
    if _first_places(low_typed, 0, len(low_typed), low, len(low)) is None:
        return None
    best = _best(typed, low_typed, candidate, low)
    # The points of an impossible match are near NEVER, but not exactly NEVER.
    return best if best > NEVER // 2 else None


def _best(typed: str, low_typed: str, candidate: str, low: str) -> int:
    # A word starts at `C` in `getClass`, `c` in `get_class`, and `2` in `utf2`.
    pairs = enumerate(zip(" " + candidate, candidate, strict=False))
    starts = [
        at == 0 or (here.isalnum() and not before.isalnum()) or (here.isupper() and not before.isupper())
        for at, (before, here) in pairs
    ]
    # `previous[at]` is the maximum of points if the last letter so far matches at index `at` of the candidate.
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


LONGEST = 128
"""Only this number of characters of word and text are compared."""

SEPARATORS = frozenset("_-. /\\'\":$<>()[]{}")
BLANKS = frozenset(" \t")
VSCODE_GAP = -5
SWAPPED = -3
MOST_SWAPS = 7
_REMEMBERED = 50_000
_EMOJI = (
    *((0x1F1E6, 0x1F1FF), (8986, 8987), (9200, 9200), (9203, 9203), (9728, 10175), (11088, 11088), (11093, 11093)),
    *((127744, 128591), (128640, 128764), (128992, 129008), (129280, 129535), (129648, 129782)),
)


def units(text: str) -> str:
    """Return the text with one character for each UTF-16 unit, since JavaScript counts these units."""
    if text.isascii() or max(text) < "\U00010000":
        return text
    coded = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(int.from_bytes(coded[at : at + 2], "little")) for at in range(0, len(coded), 2))


def _join_units(coded: str) -> str:
    if coded.isascii():
        return coded
    return coded.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


@lru_cache(maxsize=_REMEMBERED)
def full_score(word: str, begin: int, text: str) -> int | None:
    """Return the score of `word[begin:]` in `text`; None if it does not match."""
    return _score(units(word), units(word.lower()), begin, units(text), units(text.lower()))


@lru_cache(maxsize=_REMEMBERED)
def graceful_score(word: str, begin: int, text: str) -> int | None:
    """Return the best score of the word and of its variants with two neighbouring letters swapped (which costs 3)."""
    lower, letter = text.lower(), word[begin : begin + 1].lower()
    # This test is cheap, and most suggestions of a list lack the first letter.
    if letter.isascii() and letter not in lower:
        return None
    typed, low_text, text = units(word), units(lower), units(text)
    top = _score(typed, units(word.lower()), begin, text, low_text)
    if len(typed) >= 3:
        # The bounds are those of VS Code's `fuzzyScoreWithPermutations`.
        for at in range(begin + 1, min(MOST_SWAPS, len(typed) - 1)):
            if typed[at] == typed[at + 1]:
                continue
            swapped = typed[:at] + typed[at + 1] + typed[at] + typed[at + 2 :]
            points = _score(swapped, units(_join_units(swapped).lower()), begin, text, low_text)
            if points is not None and (top is None or points + SWAPPED > top):
                top = points + SWAPPED
    return top


def _first_places(low_word: str, begin: int, length: int, low_text: str, end: int) -> list[int] | None:
    places, at = [], -1
    for letter in low_word[begin:length]:
        at = low_text.find(letter, at + 1, end)
        if at < 0:
            return None
        places.append(at)
    return places


def _score(word: str, low_word: str, begin: int, text: str, low_text: str) -> int | None:
    length, end = min(len(word), LONGEST), min(len(text), LONGEST)
    if begin >= length or length - begin > end:
        return None
    first = _first_places(low_word, begin, length, low_text, end)
    if first is None:
        return None
    places, at = [], end
    for letter in reversed(low_word[begin:length]):
        at = low_text.rfind(letter, 0, at)
        places.append(at)
    last = places[::-1]
    # VS Code's option `firstMatchCanBeWeak` is off, so the first letter must begin a word.
    at = first[0]
    while not _points(word[begin], 0, text, low_text, at)[1]:
        at = low_text.find(low_word[begin], at + 1, last[0] + 1)
        if at < 0:
            return None
    points, matched = _best_points(word[begin:length], text, low_text, end, first, last)
    # VS Code's option `boostFullMatch` adds 2, and each skipped character costs 1.
    return points + (2 if end == length else 0) - (matched - length)


def _best_points(word: str, text: str, low_text: str, end: int, first: list[int], last: list[int]) -> tuple[int, int]:
    """Return the points of the best match, and the 1-based index of its last letter. `first`, `last`: the smallest and
    largest index of each letter."""
    beyond, steps = 0, [0]
    above, runs_above = [0] * (end + 1), [0] * (end + 1)
    for row, letter in enumerate(word):
        lowest, highest = first[row], last[row]
        low_letter = low_text[lowest]
        # Beyond the column after its last place, the points of the last letter stay the same.
        beyond = last[row + 1] if row + 1 < len(word) else min(highest + 2, end)
        # Column `at + 1` belongs to index `at`. `runs`: the length of the run of letters that ends there.
        table, runs, steps = [0] * (end + 1), [0] * (end + 1), [0] * (end + 1)
        for at in range(lowest, beyond):
            diagonal = left = further = -(10**9)
            if at <= highest and low_text[at] == low_letter:
                points, _ = _points(letter, row, text, low_text, at)
                diagonal = above[at] + _add_gap_and_run(points, row, text, low_text, at, end, fresh=runs_above[at] == 0)
            if at > lowest:
                left = table[at] + (VSCODE_GAP if runs[at] else 0)
                if at > lowest + 1 and runs[at]:
                    further = table[at - 1] + (VSCODE_GAP if runs[at - 1] else 0)
            column = at + 1
            if further >= max(left, diagonal):
                table[column], steps[column] = further, 2
            elif left >= diagonal:
                table[column], steps[column] = left, 1
            else:
                table[column], runs[column] = diagonal, runs_above[at] + 1
        above, runs_above = table, runs
    matched = beyond
    while steps[matched]:
        matched -= steps[matched]
    return above[beyond], matched


def _points(letter: str, row: int, text: str, low_text: str, at: int) -> tuple[int, bool]:
    same = 7 if letter == text[at] else 5
    if at == row:
        return same, True
    upper = text[at] != low_text[at]
    if upper and (at == 0 or text[at - 1] == low_text[at - 1]):
        return same, True
    if _separates(low_text, at) and (at == 0 or not _separates(low_text, at - 1)):
        return 5, True
    if _separates(low_text, at - 1) or low_text[at - 1] in BLANKS:
        return 5, True
    return 1, False


def _add_gap_and_run(points: int, row: int, text: str, low_text: str, at: int, end: int, *, fresh: bool) -> int:
    """Return the points, changed by a gap or a run. `fresh`: whether no run of letters ends before `at`."""
    after_gap = text[at] != low_text[at] or (at > 0 and (_separates(low_text, at - 1) or low_text[at - 1] in BLANKS))
    if not row:
        points -= (3 if after_gap else 5) if at else 0
    elif fresh:
        points += 2 if after_gap else 0
    else:
        points += 0 if after_gap else 1
    # A match at the end is treated as if a gap followed it; otherwise, it would get more points than others.
    return points - (3 if after_gap else 5) if at + 1 == end else points


def _separates(text: str, at: int) -> bool:
    if at < 0:
        return False
    character = text[at]
    if character in SEPARATORS:
        return True
    if character < "\u2000":
        return False
    # A pair of surrogates is one character here.
    code = ord(_join_units(text[at : at + 2])[0])
    # This is `isEmojiImprecise` in VS Code's `src/vs/base/common/strings.ts`.
    return any(begin <= code <= end for begin, end in _EMOJI)
