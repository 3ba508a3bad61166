"""The word before the caret as VS Code sees it: the range of items that give none.

Patterns: `wordPattern` in `extensions/*/language-configuration.json` of microsoft/vscode 1.95, and
DEFAULT_WORD_REGEXP of `src/vs/editor/common/core/wordHelper.ts`. Languages that are not named here have the default
there, too: for Ruby, Shopify's extension (`vscode/languages/ruby.json`) sets none.
"""

from __future__ import annotations

import re

LONGEST = 1000
WINDOW = 15
"""As in `_defaultConfig` of wordHelper.ts: characters of a line that are looked at, and those of one step back."""


def _pattern(*, without: str = "") -> re.Pattern[str]:
    separators = "".join(each for each in "`~!@#$%^&*()-=+[{]}\\|;:'\",.<>/?" if each not in without)
    return re.compile(rf"-?[0-9]*\.[0-9][0-9A-Za-z_]*|[^{re.escape(separators)}\s\ufeff]+")


DEFAULT = _pattern()
BY_LANGUAGE = {
    "php": _pattern(without="$"),
    **dict.fromkeys(("typescript", "typescriptreact", "javascript", "javascriptreact"), _pattern(without="$#")),
}
"""The protocol's name of a language → its pattern."""


def word_start(line: str, caret: int, language: str) -> int:
    """Return the index in the line at which the word before the caret begins; that of the caret if there is none.

    As `getWordAtText` in wordHelper.ts does: the first match that reaches the caret, searched from ever further back.
    """
    cut = max(0, caret - LONGEST // 2) if len(line) > LONGEST else 0
    text = line[cut : caret + LONGEST // 2] if len(line) > LONGEST else line
    pattern, place = BY_LANGUAGE.get(language, DEFAULT), caret - cut
    match, previous = None, -1
    for begin in range(place - WINDOW, -WINDOW, -WINDOW):
        reaching = _reaching(pattern, text, max(begin, 0), place, previous)
        if reaching is None and match is not None:
            break
        match, previous = reaching, begin
        if begin <= 0:
            break
    return cut + match.start() if match else caret


def _reaching(pattern: re.Pattern[str], text: str, begin: int, place: int, stop: int) -> re.Match[str] | None:
    for match in pattern.finditer(text, begin):
        if match.start() <= place <= match.end():
            return match
        if match.start() > max(stop, place) or 0 < stop < match.start():
            return None
    return None
