"""The shape of OpenAI's answers, which several apis share, with the variants of other servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ci_eval.plugins.adapters.endpoints.contract import Piece, read_count
from ci_eval.plugins.adapters.endpoints.http.quirks import TEXT_PARTS
from ci_eval.plugins.adapters.endpoints.logprobs import read_logprobs

THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""The fields of thoughts in a message, beside its content."""


def piece(answer: Mapping[str, Any], *, chat: bool) -> Piece:
    """Return the content of an object with `choices` and `usage`; the last chunk of a stream may hold the counts alone.

    `chat`: whether a choice holds a message, rather than a text.
    """
    # In a stream, `usage` may be null until the last chunk.
    usage = answer.get("usage") or {}
    choice = _first(answer["choices"] or [])
    message, is_whole = _message(choice, chat=chat)
    content = message.get("content")
    text, thought = _parts([content] if isinstance(content, Mapping) else content)
    beside = next((str(message[name]) for name in THOUGHTS if isinstance(message.get(name), str)), "")
    finish = choice.get("finish_reason") or choice.get("native_finish_reason") or ""
    return Piece(
        text=text,
        thought=thought + beside,
        finish=str(finish),
        refused=bool(message.get("refusal"))
        or (isinstance(content, list) and any(isinstance(part, Mapping) and part.get("refusal") for part in content)),
        is_whole=is_whole,
        has_choice=bool(choice),
        model=str(answer.get("model") or ""),
        prompt_tokens=_count_prompt(usage),
        answer_tokens=read_count(usage.get("completion_tokens")),
        logprobs=read_logprobs(choice.get("logprobs")),
    )


def _first(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the choice number 0, or an empty one if it is not there."""
    if len(choices) == 1 and "message" in choices[0]:
        return choices[0]
    # A stream of several choices mixes their chunks.
    return next((choice for choice in choices if not choice.get("index")), {})


def _message(choice: Mapping[str, Any], *, chat: bool) -> tuple[Mapping[str, Any], bool]:
    """Return the message of a choice, and whether that is the whole answer."""
    delta, message = choice.get("delta"), choice.get("message")
    # Some servers answer in the shape of the other api.
    if not chat or (message is None and delta is None):
        text = choice.get("text")
        return {"content": text} if text is not None or message is None else message, False
    # A chunk has a `delta`; some servers send a `message` beside it.
    if delta or message is None:
        return delta or {}, False
    return message, True


def _count_prompt(usage: Any) -> int | None:
    """Return the tokens of the question. Some servers count those apart that they took from a cache."""
    count = read_count(usage.get("prompt_tokens"))
    details = usage.get("prompt_tokens_details") or {}
    kept = [read_count(usage.get(name)) or 0 for name in ("cache_read_input_tokens", "cache_creation_input_tokens")]
    cached = max(sum(kept), read_count(details.get("cached_tokens")) or 0)
    return count if count is None or cached <= count else count + cached


def _parts(content: object) -> tuple[str, str]:
    """Return the text of a content, and the thoughts in it: a text, or a list of parts."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list):
        raise TypeError("a content is a text or a list of parts")
    texts, thoughts = "", ""
    for part in content:
        if isinstance(part, str):
            texts += part
        elif str(part.get("type") or "") in TEXT_PARTS:
            texts += str(part.get("text") or "")
        else:
            thoughts += "".join(_walk_texts(part.get("thinking") or part.get("text") or part.get("content")))
    return texts, thoughts


def _walk_texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for inner in part:
            yield from _walk_texts(inner)
    elif isinstance(part, Mapping):
        yield from _walk_texts(part.get("text") or part.get("thinking"))


def find_error(answer: Mapping[str, Any], key: str) -> object:
    """Return the error that an object with code 200 tells, in one of the ways that servers have; None without one.

    `key`: the field that an answer of this api has.
    """
    if answer.get("error"):
        return answer["error"] if isinstance(answer["error"], Mapping) else answer
    if answer.get("object") == "error" or answer.get("type") == "error":
        return answer
    status = answer.get("base_resp")  # MiniMax
    if isinstance(status, Mapping) and status.get("status_code"):
        return status
    if key not in answer and (answer.get("detail") or (answer.get("message") and answer.get("code"))):
        return answer
    choices = answer.get("choices")
    if isinstance(choices, list):  # OpenRouter
        return next(
            (choice["error"] for choice in choices if isinstance(choice, Mapping) and choice.get("error")), None
        )
    return None
