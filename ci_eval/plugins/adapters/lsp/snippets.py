"""The text that an editor inserts for a snippet (`insertTextFormat` 2).

The rules are those of `SnippetParser` in VS Code 1.95 (`src/vs/editor/contrib/snippet/browser/snippetParser.ts`):
placeholders leave their default text, choices their first text, tab stops and unknown variables nothing. Mirrored
placeholders are not filled in.
"""

from __future__ import annotations

import re

_STOP = re.compile(r"\$(?:(?P<number>\d+)|(?P<name>[A-Za-z_]\w*))", re.ASCII)
_OPENED = re.compile(r"\$\{(?:(?P<number>\d+)|(?P<name>[A-Za-z_]\w*))(?P<next>[:}/|])", re.ASCII)
_CHOICES = re.compile(r"((?:\\[\\,|]|[^\\,|])*)(?:,(?:\\[\\,|]|[^\\,|])*)*\|\}")
# No text can be matched in two ways here: each further `${…}` would otherwise double the time.
_TRANSFORM = re.compile(r"(?:\\.|[^\\/])*/(?:\\.|\$\{[^}$]*\}|\$(?!\{[^}$]*\})|[^\\/$])*/[a-z]*\}", re.ASCII)
_PLAIN = re.compile(r"[^$\\}]+")
DEEPEST = 20
"""The depth of nested placeholders that are read as such."""
LONGEST = 20_000
"""Characters of the longest snippet that is read; a longer one is text as a whole."""
MOST_UNCLOSED = 20
"""The number of unclosed transforms after which all others are text. Each makes the reader look for its end."""


def expand(snippet: str) -> tuple[str, int]:
    """Return the inserted text, and the length of its beginning that holds no placeholder."""
    if ("$" not in snippet and "\\" not in snippet) or len(snippet) > LONGEST:
        return snippet, len(snippet)
    reader = _Reader(snippet)
    text = reader.read()
    return text, len(text) if reader.firm is None else reader.firm


class _Reader:
    """A reader of one snippet, from its beginning to its end."""

    def __init__(self, snippet: str) -> None:
        self._snippet = snippet
        self._at = 0
        self._length = 0
        self._unclosed = 0
        self.firm: int | None = None
        """The number of characters written before the first placeholder; None = there is none so far."""

    def read(self, depth: int = 0) -> str:
        """Return the text up to the bracket that closes a placeholder, or up to the end at depth 0."""
        parts: list[str] = []
        while self._at < len(self._snippet):
            if depth and self._snippet[self._at] == "}":
                break
            parts.append(self._piece(depth))
        return "".join(parts)

    def _piece(self, depth: int) -> str:
        snippet, at = self._snippet, self._at
        if plain := _PLAIN.match(snippet, at):
            return self._write(plain[0], len(plain[0]))
        if snippet[at] == "\\":
            escaped = snippet[at + 1 : at + 2] in {"$", "}", "\\"}
            return self._write(snippet[at + escaped], 1 + escaped)
        if snippet[at] != "$":
            return self._write(snippet[at], 1)
        if stop := _STOP.match(snippet, at):
            self._stop(stop["number"])
            self._at = stop.end()
            return ""
        # Deeper nesting is read as text, since a hostile snippet could otherwise exhaust the stack.
        if (opened := _OPENED.match(snippet, at)) and depth < DEEPEST:
            return self._placeholder(opened, depth)
        return self._write("$", 1)

    def _placeholder(self, opened: re.Match[str], depth: int) -> str:
        before = self._at, self._length, self.firm
        self._stop(opened["number"])
        self._at = opened.end()
        match opened["next"]:
            case "}":
                return ""
            case ":":
                return self._default_text(opened, depth, before[2])
            case "|" if opened["number"] and (choices := _CHOICES.match(self._snippet, self._at)):
                self._at = choices.end()
                first = re.sub(r"\\([\\,|])", r"\1", choices[1])
                self._length += len(first)
                return first
            case "/" if self._unclosed < MOST_UNCLOSED:
                if transform := _TRANSFORM.match(self._snippet, self._at):
                    self._at = transform.end()
                    return ""
                self._unclosed += 1
        # What is not closed is text.
        self._at, self._length, self.firm = before
        return self._write("$", 1)

    def _default_text(self, opened: re.Match[str], depth: int, firm_before: int | None) -> str:
        firm, self.firm = self.firm, firm_before
        text = self.read(depth + 1)
        if self._snippet[self._at : self._at + 1] == "}":
            self._at += 1
            self.firm = self.firm if firm is None else firm
            return text
        # An unclosed placeholder is text, and what follows it was read already: to read it twice would double the time
        # with each of them.
        self._length += len(opened[0])
        if firm_before is None and self.firm is not None:
            self.firm += len(opened[0])
        return opened[0] + text

    def _stop(self, number: str | None) -> None:
        # Variables have names, and an editor fills them in by itself: only numbered placeholders end the firm part.
        if self.firm is None and number:
            self.firm = self._length

    def _write(self, text: str, read: int) -> str:
        self._at += read
        self._length += len(text)
        return text
