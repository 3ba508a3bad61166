"""The assembly of an answer from the objects of one response."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ci_eval.plugins.adapters.endpoints.contract import Api, Piece
from ci_eval.plugins.adapters.endpoints.http import quirks
from ci_eval.plugins.adapters.endpoints.http.shapes import find_error
from ci_eval.plugins.adapters.endpoints.http.trouble import broken, classify_error, garbage, premature_end


@dataclass
class Assembly:
    """The pieces of one answer that have arrived so far."""

    api: Api
    text: str = ""
    thought: str = ""
    logprobs: list[tuple[int, float | None]] = field(default_factory=list)
    last: Piece = field(default_factory=Piece)
    """The last values of the model, the counts, and the reason for the end."""
    first_text: float | None = None
    """The time at which the first text came."""
    is_done: bool = False
    """A flag: the response says that nothing follows."""
    refused: bool = False
    _pieces: int = 0
    _is_whole: bool = False
    _has_choice: bool = False

    def add(self, content: Any) -> None:
        """Add the next object of the response, or a list of them. Raises Trouble."""
        if isinstance(content, list):
            for inner in content:
                self.add(inner)
            return
        piece = self._piece(content)
        if piece is None:
            return
        self._pieces += 1
        self._has_choice |= piece.has_choice
        if (piece.text or piece.thought) and self.first_text is None:
            self.first_text = time.perf_counter()
        if piece.is_whole and self.text and piece.text.startswith(self.text):
            self.text = piece.text  # some end a stream with all that they sent
        else:
            self.text += piece.text
            self.thought += piece.thought
            self.logprobs += piece.logprobs
        self._is_whole |= piece.is_whole
        self.refused |= piece.refused
        # A last chunk with the counts alone gives no reason, and must not hide the one before.
        finish = piece.finish if quirks.translate_finish(piece.finish) else self.last.finish
        self.last = Piece(
            finish=finish,
            model=piece.model or self.last.model,
            prompt_tokens=self.last.prompt_tokens if piece.prompt_tokens is None else piece.prompt_tokens,
            answer_tokens=self.last.answer_tokens if piece.answer_tokens is None else piece.answer_tokens,
        )

    def finished(self, *, streamed: bool) -> Assembly:
        """Return the answer, which is whole. Raises Trouble."""
        if not self._pieces:
            raise garbage(f"the answer is not one of the api {self.api.name}")
        if not self._has_choice:
            raise garbage("the endpoint sent a list of answers with nothing in it")
        finish = quirks.translate_finish(self.last.finish)
        is_one_piece = self._is_whole and self._pieces == 1
        # A stream that was cut looks like one that ended, except that it names neither a reason nor an end.
        if not (finish or self.is_done or is_one_piece or not streamed):
            raise broken("the answer broke off")
        if not (finish or self.text.strip() or self.refused):
            raise broken("the answer is empty, and the endpoint gives no reason")
        if finish.startswith(quirks.BROKEN):
            raise premature_end(finish)
        return self

    @property
    def finish(self) -> str:
        """Return the reason why the model stopped, as `Reply` names it."""
        if self.refused and not self.text:
            return quirks.REFUSAL
        return quirks.translate_finish(self.last.finish) or "unknown"

    def _piece(self, content: Any) -> Piece | None:
        """Return the piece in the object, or None if the object is no part of the answer, such as a ping. Raises
        Trouble."""
        if isinstance(content, Mapping):
            if error := find_error(content, self.api.key):
                raise classify_error(error)
            if self.api.key not in content:
                return None
        try:
            # The apis pass values on as they came, so the round trip checks their types.
            return msgspec.convert(msgspec.to_builtins(self.api.read(content)), Piece)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise garbage(f"the answer is not one of the api {self.api.name}") from None
