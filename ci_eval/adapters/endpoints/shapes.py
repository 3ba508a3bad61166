"""The shape of OpenAI's answers, which several apis share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ci_eval.adapters.endpoints.contract import Piece, count_of
from ci_eval.adapters.endpoints.logprobs import logprobs_of


def piece(found: Mapping[str, Any], text: Callable[[Mapping[str, Any]], Any]) -> Piece:
    """What an object with `choices` and `usage` tells; the last chunk of a stream may hold the counts alone.

    `text`: finds the text in a choice.
    """
    usage = found.get("usage") or {}
    choice = found["choices"][0] if found["choices"] else {}
    return Piece(
        text=text(choice) or "",
        finish=choice.get("finish_reason") or "",
        model=found.get("model") or "",
        prompt_tokens=count_of(usage.get("prompt_tokens")),
        answer_tokens=count_of(usage.get("completion_tokens")),
        logprobs=logprobs_of(choice.get("logprobs")),
    )


def said(choice: Mapping[str, Any]) -> Any:
    """The text of a chat: a whole answer has a `message`, a chunk a `delta`."""
    return (choice.get("message") or choice.get("delta") or {}).get("content")
