"""The selection of other files of the project that a model is shown, if it is shown some: cross-file context.

First come the files that the open file imports, in the order of its import lines; then those that use most of the same
names (Jaccard index of identifiers). Ties are ordered by nearness of folders, then by path. Only the text before the
caret decides, so that the code to be predicted does not influence the selection.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from ci_eval.core.base.files import NOT_SOURCE, below, read_own
from ci_eval.core.grammar.document import NotText, decode
from ci_eval.core.grammar.imports.named import Modules, read_module_names, shared
from ci_eval.plugins.adapters.endpoints.contract import OtherFile
from ci_eval.plugins.adapters.endpoints.windows import Measure, head

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
LARGEST = 1_000_000
"""Bytes of the largest file that is shown; a larger file is hardly read by people either."""


class OtherFiles:
    """The files of a project with these endings. They are read once, the first time that any is needed."""

    def __init__(self, root: Path, suffixes: tuple[str, ...], ignored: frozenset[str] = frozenset()) -> None:
        """Remember the project; nothing is read yet. `ignored`: names of files and folders that are left out."""
        self._root = root
        self._ignored = NOT_SOURCE | ignored
        self._suffixes = suffixes
        self._read = False
        self._paths: list[str] = []
        self._sizes: list[int] = []
        self._using: dict[str, list[int]] = defaultdict(list)
        """The identifier → numbers of the files that have it."""
        self._modules = Modules(())

    def chosen(
        self, path: str, before: str, most: int, measure: Measure, fits: Callable[[str], bool]
    ) -> list[OtherFile]:
        """Return the files to show. The first choice comes last, since the file nearest to the caret counts most.

        `before`: the text of the open file before the caret. `most`: the size of all together, by that measure. `fits`:
        whether a text may be sent.
        """
        files: list[OtherFile] = []
        for candidate in self._rank(path, before):
            whole = self._text(candidate) or ""
            if not (whole.strip() and fits(whole) and fits(candidate)):
                continue
            if text := head(whole, most, measure):
                files.append(OtherFile(path=candidate, text=text))
                most -= measure(text)
            # The space is used up.
            if text != whole:
                break
        return files[::-1]

    def _rank(self, path: str, before: str) -> Iterator[str]:
        self._index()
        own = self._text(path)
        imported = dict.fromkeys(
            candidate for name in read_module_names(before) for candidate in self._modules.found(name, path)
        )
        known = {path}
        for candidate in chain(imported, self._similar(path, before)):
            # A copy of the open file holds what the model is to find out.
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

    def _index(self) -> None:
        if self._read:
            return
        self._read = True
        for path in sorted(below(self._root, self._root, self._suffixes, self._ignored)):
            # A name that is no text could not be sent.
            if any("\ud800" <= letter <= "\udfff" for letter in path) or (text := self._text(path)) is None:
                continue
            names = set(_IDENTIFIER.findall(text))
            for name in names:
                self._using[name].append(len(self._paths))
            self._paths.append(path)
            self._sizes.append(len(names))
        self._modules = Modules(self._paths)

    def _text(self, path: str) -> str | None:
        """Return the text of a file of the project's own, or None if it is no text, or too large."""
        try:
            data = read_own(self._root, path)
            return decode(data) if len(data) <= LARGEST else None
        except (OSError, NotText):
            return None  # shown to nobody; actions count it where it is to be evaluated
