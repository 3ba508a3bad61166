"""Applies actions to a text, as the interpreter does, without an engine."""

from __future__ import annotations

from collections.abc import Iterator

from ci_eval.model import (
    CallCompletion,
    CodeGolf,
    DeleteRange,
    FileActions,
    FinishSession,
    MoveCaret,
    OpenFile,
    PrintText,
)
from ci_eval.support.document import Document


def replay(text: str, actions: FileActions) -> str:
    """What is left of the text when all is done."""
    document = Document(text)
    for _ in _played(document, actions):
        pass
    return document.text


def seen(text: str, actions: FileActions) -> Iterator[tuple[CallCompletion | CodeGolf, str, str]]:
    """Each question, with the text before and behind the caret."""
    document = Document(text)
    for call in _played(document, actions):
        yield call, document.text[: document.caret], document.text[document.caret :]


def _played(document: Document, actions: FileActions) -> Iterator[CallCompletion | CodeGolf]:
    for action in actions.actions:
        match action:
            case MoveCaret():
                document.move(action.offset)
            case DeleteRange():
                document.delete(action.begin, action.end)
            case PrintText():
                document.insert(action.text)
            case CallCompletion():
                yield action
            case CodeGolf():
                yield action
                document.insert(action.expected_text)
            case OpenFile() | FinishSession():
                pass
