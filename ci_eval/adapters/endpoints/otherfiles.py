"""Which other files of the project a model is shown, where it is shown some: cross-file context.

First those that the open file imports, in the order of its import lines; then those that use most of the same names
(Jaccard index of identifiers); of equals the nearest by folders, then by path. Only the text before the caret decides,
so that what the model is to find out does not choose what it is shown.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from ci_eval.adapters.endpoints.contract import OtherFile
from ci_eval.adapters.endpoints.windows import Measure, head
from ci_eval.files import NOT_SOURCE, below, read_own
from ci_eval.grammar.document import NotText, decode
from ci_eval.grammar.imports.named import Modules, named, shared

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
LARGEST = 1_000_000
"""Bytes of the largest file that is shown; what is larger is hardly read by people either."""


class OtherFiles:
    """The files of a project with these endings. They are read once, the first time any is wanted."""

    def __init__(self, root: Path, suffixes: tuple[str, ...], ignored: frozenset[str] = frozenset()) -> None:
        """`ignored`: names of files and folders that are left out."""
        self._root = root
        self._ignored = NOT_SOURCE | ignored
        self._suffixes = suffixes
        self._read = False
        self._paths: list[str] = []
        self._sizes: list[int] = []
        self._using: dict[str, list[int]] = defaultdict(list)
        """Identifier → numbers of the files that have it."""
        self._modules = Modules(())

    def chosen(
        self, path: str, before: str, most: int, measure: Measure, fits: Callable[[str], bool]
    ) -> list[OtherFile]:
        """Those to show, the first to choose last, since what stands nearest to the caret counts most.

        `before`: the text of the open file before the caret. `most`: the size of all together, by that measure. `fits`:
        whether a text may be sent.
        """
        found: list[OtherFile] = []
        for other in self._ranked(path, before):
            whole = self._text(other) or ""
            if not (whole.strip() and fits(whole) and fits(other)):
                continue
            if text := head(whole, most, measure):
                found.append(OtherFile(path=other, text=text))
                most -= measure(text)
            if text != whole:
                break
        return found[::-1]

    def _ranked(self, path: str, before: str) -> Iterator[str]:
        self._index()
        own = self._text(path)
        imported = dict.fromkeys(other for name in named(before) for other in self._modules.found(name, path))
        known = {path}
        for other in chain(imported, self._similar(path, before)):
            # A copy of the open file holds what the model is to find out.
            if other not in known and self._text(other) != own:
                yield other
            known.add(other)

    def _similar(self, path: str, before: str) -> Iterator[str]:
        names = set(_IDENTIFIER.findall(before))
        common = Counter(number for name in names for number in self._using.get(name, ()))
        ranked = []
        for number, count in common.items():
            other = self._paths[number]
            ranked.append((-count / (len(names) + self._sizes[number] - count), -shared(other, path), other))
        yield from (other for _, _, other in sorted(ranked))

    def _index(self) -> None:
        if self._read:
            return
        self._read = True
        for path in sorted(below(self._root, self._root, self._suffixes, self._ignored)):
            # A name that is no text could not be sent.
            if not _is_text(path) or (text := self._text(path)) is None:
                continue
            names = set(_IDENTIFIER.findall(text))
            for name in names:
                self._using[name].append(len(self._paths))
            self._paths.append(path)
            self._sizes.append(len(names))
        self._modules = Modules(self._paths)

    def _text(self, path: str) -> str | None:
        """None where it is no text of the project's own, or too large."""
        try:
            data = read_own(self._root, path)
            return decode(data) if len(data) <= LARGEST else None
        except (OSError, NotText):
            return None  # shown to nobody; actions count it where it is to be evaluated


def _is_text(name: str) -> bool:
    """Whether the name of a file can be written in UTF-8."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
