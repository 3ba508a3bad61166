"""Recorded editing → the lists that people saw, with our features of each suggestion, as logs have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ci_eval import languages
from ci_eval.contracts import CaretContext
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.learning.features import NAMES, OF_PROJECT, Reader
from ci_eval.learning.logs.events import Feature, Shown, ShownSession
from ci_eval.learning.names import NOTHING
from ci_eval.mining.usages import streams
from ci_eval.mining.usages.recordings import RecordedLookup, Recording
from ci_eval.model import Suggestion

ENDS = {"select": "selected", "typed": "typed", "cancel": "cancelled"}
UNTOLD = frozenset({"score_rank", "kind", *NAMES[OF_PROJECT:]})
"""Features that no recording tells: they come from the engine, or from the project's other files."""
OF_WORD = ("prefix_length", "query", "length", "words", "underscores", "case", "prefix_match", "prefix_share")
OF_LIST = frozenset([*OF_WORD, "list_size", "position", "position_share"])
"""Features that are known without the text of the file."""


@dataclass(frozen=True)
class Recorded:
    """A recording, as it is named on the command line: FORMAT=PATH."""

    form: str
    path: Path

    @classmethod
    def named(cls, source: Path) -> Recorded | None:
        """Return the one that is meant; None if no format is named. Raises ConfigError if the format has no lists."""
        form, _, path = str(source).partition("=")
        if not path or form not in streams.names() or source.exists():
            return None
        if streams.CATALOG.load(form).lookups is None:
            having = ", ".join(name for name in streams.names() if streams.CATALOG.load(name).lookups)
            raise ConfigError(
                f"{source}: recordings of the format {form} tell how files were edited, not which lists completion "
                f"showed and what was taken from them; {having} can tell that (docs/datasets.md)"
            )
        if not Path(path).exists():
            raise ConfigError(f"{path} is not there")
        return cls(form, Path(path))

    def sessions(self, left_out: Counter[str]) -> Iterator[ShownSession]:
        """Yield the sessions that ended; what cannot be used is counted. Raises NothingToEvaluate if no list is
        recorded."""
        lookups = streams.CATALOG.load(self.form).lookups
        assert lookups
        recording = Recording(language="", ends=("",), skipped=left_out)
        known = _Sessions(left_out)
        for lookup in lookups(self.path, recording):
            yield from known.take(lookup)
        yield from known.end()
        if not known.lists:
            raise NothingToEvaluate(
                f"{self.path} has no list that completion showed (`candidates`): edits alone do not tell what was "
                "offered"
            )


@dataclass
class _Open:
    """A word that is being typed, in one file of one user."""

    number: int
    reader: Reader
    found: list[tuple[RecordedLookup, Shown]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """Text → the number of the item."""


@dataclass
class _Sessions:
    """Puts lists together that were shown while one word was typed: one after the other, from the same place on."""

    left_out: Counter[str]
    lists: int = 0
    _open: dict[tuple[str, str], _Open] = field(default_factory=dict)

    def take(self, lookup: RecordedLookup) -> Iterator[ShownSession]:
        """Yield the next list; yields the session that it is no part of, if one was open."""
        if not lookup.candidates:
            self.left_out["lists without candidates"] += 1
            return
        self.lists += 1
        at = lookup.user, lookup.file
        now = self._open.get(at) or _Open(0, Reader(keywords_of(lookup.file), NOTHING.without("")))
        last = now.found[-1][0] if now.found else None
        if last and (last.start != lookup.start or last.outcome in {"select", "cancel"}):
            yield from self._session(now)
            now = _Open(now.number + 1, now.reader)
        self._open[at] = now
        now.found.append((lookup, _shown(lookup, now)))

    def end(self) -> Iterator[ShownSession]:
        """Those that are still open."""
        for each in self._open.values():
            yield from self._session(each)

    def _session(self, now: _Open) -> Iterable[ShownSession]:
        last, shown = now.found[-1]
        if last.outcome not in ENDS:
            self.left_out["sessions of which no end is recorded"] += 1
            return ()
        wanted = now.numbers.get(last.item) if last.item and last.outcome != "cancel" else None
        if last.outcome == "select" and wanted not in shown.ids:
            self.left_out["sessions that took what is not in the list"] += 1
            return ()
        session = ShownSession(
            user=last.user,
            session=f"{last.file} {now.number}",
            lookups=[each for _, each in now.found],
            outcome=ENDS[last.outcome],
            wanted=wanted,
        )
        return (session,)


def _shown(lookup: RecordedLookup, now: _Open) -> Shown:
    texts = list(dict.fromkeys(lookup.candidates))
    return Shown(
        typed=len(lookup.prefix),
        ids=[now.numbers.setdefault(text, len(now.numbers)) for text in texts],
        features=_features(lookup, texts, len(now.found), now.reader),
    )


def _features(
    lookup: RecordedLookup, texts: Sequence[str], number: int, reader: Reader
) -> Sequence[dict[str, Feature]]:
    caret = CaretContext(path=lookup.file, before=lookup.before or "", prefix=lookup.prefix, query=number)
    rows = reader.rows(caret, [Suggestion(text=text) for text in texts]).tolist()
    told = [name not in UNTOLD and (lookup.before is not None or name in OF_LIST) for name in NAMES]
    return [
        {name: value if is_told else None for name, value, is_told in zip(NAMES, row, told, strict=True)}
        for row in rows
    ]


@lru_cache
def _keywords() -> dict[str, frozenset[str]]:
    """End of a file's name → the keywords of its language."""
    return {end: each.keywords for each in languages.CATALOG.all() for end in each.suffixes if end}


def keywords_of(file: str) -> frozenset[str]:
    """Of the language that the file is in, by its name; none where no language is known to have such files."""
    ends = [end for end in _keywords() if file.endswith(end)]
    return _keywords()[max(ends, key=len)] if ends else frozenset()
