"""The word at the caret as VS Code sees it: the range of items that give none.

Patterns: `wordPattern` in `extensions/*/language-configuration.json` of microsoft/vscode 1.95, and
DEFAULT_WORD_REGEXP of `src/vs/editor/common/core/wordHelper.ts`. Languages that are not named here have the default
there, too: for Ruby, Shopify's extension (`vscode/languages/ruby.json`) sets none.
"""

from __future__ import annotations

import re

LONGEST = 1000
WINDOW = 15
"""The values of `_defaultConfig` in wordHelper.ts: characters of a line that are looked at, and those of one step
back."""


def _pattern(*, without: str = "") -> re.Pattern[str]:
    separators = "".join(sign for sign in "`~!@#$%^&*()-=+[{]}\\|;:'\",.<>/?" if sign not in without)
    return re.compile(rf"-?[0-9]*\.[0-9][0-9A-Za-z_]*|[^{re.escape(separators)}\s\ufeff]+")


DEFAULT = _pattern()
BY_LANGUAGE = {
    "php": _pattern(without="$"),
    **dict.fromkeys(("typescript", "typescriptreact", "javascript", "javascriptreact"), _pattern(without="$#")),
}
"""The pattern of words by the protocol's name of a language."""


def find_word(line: str, caret: int, language: str) -> tuple[int, int]:
    """Return the indices in the line at which the word at the caret begins and ends; both are the caret's if there is
    none.

    The search is that of `getWordAtText` in wordHelper.ts: the first match that reaches the caret, searched from ever
    further back.
    """
    cut = max(0, caret - LONGEST // 2) if len(line) > LONGEST else 0
    text = line[cut : caret + LONGEST // 2] if len(line) > LONGEST else line
    pattern, target = BY_LANGUAGE.get(language, DEFAULT), caret - cut
    match, previous = None, -1
    for begin in range(target - WINDOW, -WINDOW, -WINDOW):
        reaching = _find_match(pattern, text, max(begin, 0), target, previous)
        if reaching is None and match is not None:
            break
        match, previous = reaching, begin
        if begin <= 0:
            break
    return (cut + match.start(), cut + match.end()) if match else (caret, caret)


def _find_match(pattern: re.Pattern[str], text: str, begin: int, target: int, stop: int) -> re.Match[str] | None:
    for match in pattern.finditer(text, begin):
        if match.start() <= target <= match.end():
            return match
        if match.start() > max(stop, target) or 0 < stop < match.start():
            return None
    return None
