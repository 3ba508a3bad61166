"""The carets at which a completion engine is asked about a record, each in a text of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.base.files import read_own
from ci_eval.core.contracts import Answer, Query, Running
from ci_eval.core.grammar.document import difference
from ci_eval.core.interpret.assignments import Setup, completes
from ci_eval.core.interpret.showing import Showing, Shown
from ci_eval.core.model import Caret, Record, Suggestion
from ci_eval.core.queries.carets import apply_edits


class Carets:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._showings: dict[str, Showing] = {}
        self._open: tuple[str, str] | None = None

    def has_no_place(self, record: Record | None) -> bool:
        """Return whether the engine cannot be asked about a record: it completes, and there is no caret for it."""
        return completes(self._setup, record) and self.caret(record) is None

    def caret(self, record: Record | None) -> Caret | None:
        """Return the caret at which the engine is asked in place of the record; None if there is none, or if the engine
        answers the record itself."""
        if record is None or not record.carets or not completes(self._setup, record):
            return None
        first = record.carets[0]
        return first if first and first.path.endswith(self._setup.surroundings.suffixes) else None

    def forget(self) -> None:
        self._open = None

    @property
    def opened(self) -> bool:
        return self._open is not None

    def answer(self, engine: Running, caret: Caret, repeat: int) -> Answer:
        text = self._text(caret)
        if self._open and self._open[0] == caret.path:
            engine.edit([difference(self._open[1], text)] if text != self._open[1] else [])
        else:
            engine.open(caret.path, text)
        self._open = caret.path, text
        return engine.complete(Query(offset=caret.offset, prefix="", expected="", repeat=repeat))

    def show(self, answered: Sequence[Suggestion], caret: Caret, query: int) -> Shown:
        """Return the names in that list, as they are displayed; `query`: the number of lists that the session had
        before."""
        text = self._text(caret)
        showing = self._showings.setdefault(caret.path, Showing(self._setup, caret.path, text))
        splitting = self._setup.task.splitting
        assert splitting
        assert splitting.named
        return showing.show(splitting.named(answered), text[: caret.offset], "", query, after=text[caret.offset :])

    def _text(self, caret: Caret) -> str:
        assert self._setup.texts
        return apply_edits(read_own(self._setup.texts, caret.text).decode(), caret)
