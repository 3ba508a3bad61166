"""Displayed lists: the suggestions of an answer in the order in which a user sees them, and their logged features."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.core.base.files import read_own
from ci_eval.core.contracts import Answer, CaretContext, FileContext, Query, Running
from ci_eval.core.grammar.document import difference
from ci_eval.core.interpret.assignments import Setup, completes
from ci_eval.core.interpret.clients import CATALOG as CLIENTS
from ci_eval.core.interpret.clients import TypedToken, duplicates
from ci_eval.core.logs.features import Reader
from ci_eval.core.model import REMOVED, REMOVED_BEFORE, Caret, Offer, Record, Suggestion
from ci_eval.core.queries.carets import apply_edits


def settle_tail(suggestion: Suggestion, rest: str) -> Suggestion:
    """Make the tail relative to the end of the token, not to the caret. `rest`: the part of the token after the caret.
    A suggestion without a tail replaces the whole token. For example, `path` at `pa|th` has the tail `th` if the engine
    replaces nothing after the caret: acceptance leaves `pathth`."""
    # Only language servers name the range to replace; without a range, the editor replaces the word.
    if not isinstance(suggestion, Offer):
        return suggestion
    tail, _, removed = suggestion.tail.partition(REMOVED)
    tail, before, changed = tail.partition(REMOVED_BEFORE)
    tail += rest[len(removed) :]
    removed = removed[len(rest) :]
    if removed and tail.endswith(removed):
        tail, removed = tail[: -len(removed)], ""
    settled = tail + before + changed + (REMOVED + removed if removed else "")
    # Placeholders stand for code that the user still writes. Here all code exists, so the whole tail is firm.
    return replace(suggestion, tail=settled, firm=len(settled))


class DisplayedList(msgspec.Struct, frozen=True, kw_only=True):
    suggestions: Sequence[Suggestion]
    stored: tuple[Suggestion, ...]
    """The first suggestions. If a ranker changed the client's order, each has its rank in the client's order."""
    duplicates: int
    highlighted: int
    ranking: float
    """The time that ranking took, in milliseconds."""
    features: NDArray[np.float32] | None
    """One row for each suggestion; None if features are not logged."""


class ListView:
    def __init__(self, setup: Setup, path: str, text: str) -> None:
        self._setup = setup
        self._path = path
        surroundings = setup.surroundings
        context = FileContext(
            path=path, text=text, keywords=surroundings.keywords, names=setup.names, surroundings=surroundings
        )
        self._order = setup.ranker.open(context)
        self._client = CLIENTS.load(setup.settings.client)
        self._reader = Reader.of(context) if setup.logging else None

    @property
    def keeps(self) -> bool:
        return self._client.keeps

    def show(
        self,
        answered: Sequence[Suggestion],
        before: str,
        prefix: str,
        query: int,
        *,
        after: str = "",
        asked: int | None = None,
        follows: str | None = None,
        mark: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] = list,
    ) -> DisplayedList:
        """Return the displayed list. `before`: the text up to the word being typed. `query`: the number of earlier
        lists of the session. `asked` (None = the whole prefix), `follows`, `mark`: as in `TypedToken`."""
        caret = CaretContext(path=self._path, before=before, prefix=prefix, query=query, after=after)
        line = before[before.rfind("\n") + 1 :] + prefix
        listing = self._client.show(
            answered,
            TypedToken(
                line=line,
                prefix=prefix,
                asked=len(prefix) if asked is None else asked,
                follows=follows,
                mark=mark,
            ),
        )
        shown = listing.suggestions
        started = time.perf_counter()
        ordered = self._order(shown, caret)
        ranking = (time.perf_counter() - started) * 1000
        stored = ordered[: self._setup.settings.max_suggestions]
        rows = self._reader.rows(caret, shown) if self._reader else None
        if ordered is not shown:
            # Several suggestions may have the same text, so identity tells them apart.
            ranks = {id(suggestion): number for number, suggestion in enumerate(shown)}
            stored = [replace(suggestion, position=ranks[id(suggestion)] + 1) for suggestion in stored]
            rows = None if rows is None else rows[[ranks[id(suggestion)] for suggestion in ordered]]
        return DisplayedList(
            suggestions=ordered,
            stored=tuple(stored),
            duplicates=duplicates(shown),
            highlighted=listing.highlighted if ordered is shown else 0,
            # If the order is unchanged, the time is only that of reading the clock.
            ranking=0.0 if ordered is shown else ranking,
            features=rows,
        )


class RecordCarets:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._views: dict[str, ListView] = {}
        self.open: tuple[str, str] | None = None
        """The path and text that the engine has; None if it must open the file again."""

    def has_no_place(self, record: Record | None) -> bool:
        """Return whether the engine needs a caret and the record has no caret."""
        return completes(self._setup, record) and self.caret(record) is None

    def caret(self, record: Record | None) -> Caret | None:
        """Return the record's caret; None if the record has no caret, or if the engine answers whole records."""
        if record is None or not record.carets or not completes(self._setup, record):
            return None
        first = record.carets[0]
        return first if first and first.path.endswith(self._setup.surroundings.suffixes) else None

    def answer(self, engine: Running, caret: Caret, repeat: int) -> Answer:
        text = self._text(caret)
        if self.open and self.open[0] == caret.path:
            engine.edit([difference(self.open[1], text)] if text != self.open[1] else [])
        else:
            engine.open(caret.path, text)
        self.open = caret.path, text
        return engine.complete(Query(offset=caret.offset, prefix="", expected="", repeat=repeat))

    def show(self, answered: Sequence[Suggestion], caret: Caret, query: int) -> DisplayedList:
        """Return the displayed list. `query`: the number of earlier lists of the session."""
        text = self._text(caret)
        view = self._views.setdefault(caret.path, ListView(self._setup, caret.path, text))
        splitting = self._setup.task.splitting
        assert splitting
        assert splitting.named
        return view.show(splitting.named(answered), text[: caret.offset], "", query, after=text[caret.offset :])

    def _text(self, caret: Caret) -> str:
        assert self._setup.texts
        return apply_edits(read_own(self._setup.texts, caret.text).decode(), caret)
