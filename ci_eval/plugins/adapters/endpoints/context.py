"""The context that a model is shown at a caret: a window of the open file, and other files of the project.

Files that the open file imports come first, in the order of the imports. The others are sorted by the share of common
identifiers (Jaccard index), nearness of folders, and path. Of the open file, only the text before the caret is used, so
that the expected code has no influence."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ci_eval.core.base.files import NOT_SOURCE, below, read_own
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.grammar.imports import Modules, read_module_names, shared
from ci_eval.core.model.settings import WindowConfig
from ci_eval.plugins.adapters.endpoints.messages import OtherFile


class Window(NamedTuple):
    prefix: str
    suffix: str
    left_out: int
    """The number of characters of the open file that did not fit. An unwanted suffix does not count."""


def compute_budget(settings: WindowConfig) -> int:
    """Return the window's size in characters."""
    if settings.tokens is None:
        return settings.characters
    return int(settings.tokens * (settings.characters_per_token or 1))


def window(text: str, offset: int, settings: WindowConfig) -> Window:
    """Return the whole lines around the caret that fit, or a part of a line that is too long by itself. Space that one
    side does not need goes to the other side. The share of other files is kept free."""
    whole = compute_budget(settings)
    size = whole - int(whole * settings.other_files)
    before, after = text[:offset], text[offset:] if settings.suffix else ""
    prefix = tail(before, size)
    spare = size - len(prefix) if prefix == before else 0
    suffix = head(after, max(int(size * settings.suffix), spare))
    if suffix:
        # If the suffix took less than its share, the prefix gets the difference.
        prefix = tail(before, size - len(suffix))
    return Window(prefix, suffix, len(before) + len(after) - len(prefix) - len(suffix))


def head(text: str, most: int) -> str:
    """Return the first whole lines of at most `most` characters, or the beginning of a line that is too long."""
    return text if len(text) <= most else text[: text.rfind("\n", 0, most) + 1 or most]


def tail(text: str, most: int) -> str:
    """Return the last whole lines of at most `most` characters, or the end of a line that is too long."""
    begin = len(text) - most
    line = text.find("\n", max(begin - 1, 0)) + 1
    return text if begin <= 0 else text[line if 0 < line < len(text) else begin :]


_IDENTIFIER = re.compile(r"[^\W\d]\w*")
LARGEST_BYTES = 1_000_000


class OtherFiles:
    """The project's files with one of `suffixes`."""

    def __init__(self, root: Path, suffixes: tuple[str, ...], ignored: frozenset[str] = frozenset()) -> None:
        self._root = root
        self._paths: list[str] = []
        self._sizes: list[int] = []
        self._using: dict[str, list[int]] = defaultdict(list)
        for path in sorted(below(root, root, suffixes, NOT_SOURCE | ignored)):
            # A name that is not Unicode cannot be sent.
            if any("\ud800" <= letter <= "\udfff" for letter in path) or (text := self._text(path)) is None:
                continue
            names = set(_IDENTIFIER.findall(text))
            for name in names:
                self._using[name].append(len(self._paths))
            self._paths.append(path)
            self._sizes.append(len(names))
        self._modules = Modules(self._paths)

    def choose(self, path: str, before: str, most: int, fits: Callable[[str], bool]) -> list[OtherFile]:
        """Return the files to show, the most important one last.

        `before`: the open file's text before the caret; `most`: the limit for all files together, in characters;
        `fits`: returns whether a text may be sent.
        """
        files: list[OtherFile] = []
        for candidate in self._rank(path, before):
            whole = self._text(candidate) or ""
            if not (whole.strip() and fits(whole) and fits(candidate)):
                continue
            if text := head(whole, most):
                files.append(OtherFile(path=candidate, text=text))
                most -= len(text)
            if text != whole:
                break  # The space is used up.
        return files[::-1]

    def _rank(self, path: str, before: str) -> Iterator[str]:
        own = self._text(path)
        imported = dict.fromkeys(
            candidate for name in read_module_names(before) for candidate in self._modules.found(name, path)
        )
        known = {path}
        for candidate in chain(imported, self._similar(path, before)):
            # A copy of the open file contains the expected code.
            if candidate not in known and self._text(candidate) != own:
                yield candidate
            known.add(candidate)

    def _similar(self, path: str, before: str) -> Iterator[str]:
        names = set(_IDENTIFIER.findall(before))
        common = Counter(number for name in names for number in self._using.get(name, ()))
        ranked = []
        for number, count in common.items():
            candidate = self._paths[number]
            ranked.append((-count / (len(names) + self._sizes[number] - count), -shared(candidate, path), candidate))
        yield from (candidate for _, _, candidate in sorted(ranked))

    def _text(self, path: str) -> str | None:
        """Return the file's text, or None if it is binary, too large, or a link out of the project."""
        try:
            data = read_own(self._root, path)
            return decode(data) if len(data) <= LARGEST_BYTES else None
        except (OSError, NotText):
            return None
