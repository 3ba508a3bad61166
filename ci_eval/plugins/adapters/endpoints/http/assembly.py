"""The answer in the body of a response: its JSON objects, which have OpenAI's shape with the variants of other servers,
and the whole that they make up."""

from __future__ import annotations

import codecs
import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import msgspec

from ci_eval.plugins.adapters.endpoints.contract import Api, Logprobs, Piece, Reply, read_count
from ci_eval.plugins.adapters.endpoints.http import trouble
from ci_eval.plugins.adapters.endpoints.http.trouble import TEXT_PARTS, broken, classify_error, garbage

LOWEST = -9999.0
"""The value that OpenAI gives a token that is too unlikely to tell."""


def read_logprobs(content: Any) -> Logprobs:
    """Return the octets and log-probabilities of the tokens in an answer: tokens with their `logprob`, alone or as
    `content` (chats; llama.cpp in all apis), or `tokens` beside `token_logprobs` (OpenAI's completions). None and all
    other shapes give nothing."""
    try:
        # An answer is not lost over numbers that few ask for.
        return tuple(_tokens(content))
    except (LookupError, TypeError, ValueError, AttributeError):
        return ()


def _tokens(content: Any) -> Iterator[tuple[int, float | None]]:
    if content is None:
        return
    if isinstance(content, Mapping) and "token_logprobs" in content:
        for token, value in zip(content["tokens"], content["token_logprobs"], strict=True):
            yield len(token.encode("utf-8", "replace")), _logprob(value)
        return
    for token in (content.get("content") if isinstance(content, Mapping) else content) or ():
        # A token may be part of a character; only `bytes` tells its length.
        octets = token.get("bytes")
        length = len(octets if isinstance(octets, list) else token["token"].encode("utf-8", "replace"))
        yield length, _logprob(token["logprob"])


def _logprob(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return min(max(float(value), LOWEST), 0.0)


def mean_logprob(reply: Reply, begin: int, end: int) -> float | None:
    """Return the mean over the tokens that begin between these offsets (code points) of the answer, or None if none
    does."""
    first, behind = (len(reply.text[:offset].encode()) for offset in (begin, end))
    starts: Sequence[int] = list(accumulate((octets for octets, _ in reply.logprobs), initial=0))
    # Some tokens, such as an end, have no text; between others they count.
    within = [
        value
        # `starts` has one more element, the end of the last token.
        for start, (_, value) in zip(starts, reply.logprobs, strict=False)
        if value is not None and first <= start < behind
    ]
    return sum(within) / len(within) if within else None


DONE = object()
"""The end of a stream that says so."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_FIELDS = (b":", b"event:", b"id:", b"retry:")
"""The beginnings of lines of a stream that hold no data."""


def whole(parts: Iterable[bytes]) -> Iterator[Any]:
    """Yield the one object that all parts make up. Raises Trouble."""
    yield _parse(b"".join(parts).removeprefix(codecs.BOM_UTF8))


def objects(parts: Iterable[bytes]) -> Iterator[Any]:
    """Yield the objects of a stream, and DONE for its end mark. Raises Trouble.

    An event may spread its data over several lines, and an endpoint may answer in one piece although it was asked to
    stream. A text that is no JSON at all, such as `data: ping`, is passed over.
    """
    data, plain = b"", b""
    for line in lines(parts):
        text = line.strip()
        is_event = text.startswith(b"data:")
        if text.startswith(b"error:"):
            raise classify_error(text[6:].decode(errors="replace"))
        if is_event:
            text = text[5:].strip()
        elif not text or (not plain and text.startswith(_FIELDS)):
            continue
        if is_event and text == b"[DONE]":
            yield DONE
            continue
        if is_event:
            data, parsed = _join(data, text)
        else:
            plain, parsed = _join(plain, text)
        if parsed is not None:
            yield parsed
    for remainder in (data, plain):
        if remainder:
            yield _parse(remainder)


def _join(held: bytes, text: bytes) -> tuple[bytes, Any]:
    """Return the text that is held back until more of it comes, and the object that is whole now, if one is."""
    joined = held + b"\n" + text if held else text
    if not joined.startswith((b"{", b"[")):
        # A short text (`ping`, `[PING]`) is a sign of life, a longer one part of a page.
        return (b"", None) if (len(joined) < 40 and b"<" not in joined) else (joined, None)
    # Only a bracket can end an object; parsing at each line would take quadratic time.
    if held and not text.endswith((b"}", b"]")):
        return joined, None
    try:
        return b"", json.loads(joined)
    except (ValueError, RecursionError):
        return joined, None


def lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines, which end with LF, CR LF or CR (https://html.spec.whatwg.org/multipage/server-sent-events.html);
    a byte order mark before them is none of the text."""
    buffer, is_first = b"", True
    for part in parts:
        buffer += part
        if is_first and len(buffer) >= len(codecs.BOM_UTF8):
            buffer, is_first = buffer.removeprefix(codecs.BOM_UTF8), False
        # A CR at the end may be half of a CR LF.
        held = buffer[-1:] if buffer.endswith(b"\r") else b""
        *whole_lines, buffer = _LINE_END.split(buffer.removesuffix(b"\r") if held else buffer)
        buffer += held
        yield from whole_lines
    if buffer:
        yield buffer.removesuffix(b"\r").removeprefix(codecs.BOM_UTF8 if is_first else b"")


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise garbage("the answer is no JSON") from None


COUNTS = ("prompt_tokens", "cached_tokens", "answer_tokens", "thought_tokens")
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
        **_count_tokens(usage),
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


def _count_tokens(usage: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the counts of a `Piece`. Some endpoints count cached tokens beside those of the question, and thoughts
    beside those of the answer or in the total alone."""
    asked, answered = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    prompt, answer, total, read, created = (
        read_count(usage.get(name))
        for name in ("prompt_tokens", "completion_tokens", "total_tokens", "cache_read_input_tokens",
                     "cache_creation_input_tokens")
    )  # fmt: skip
    cached = read if read is not None else read_count(asked.get("cached_tokens", usage.get("prompt_cache_hit_tokens")))
    thought = read_count(answered.get("reasoning_tokens", usage.get("reasoning_tokens")))
    kept = max((read or 0) + (created or 0), cached or 0)
    if prompt is not None and kept > prompt:
        prompt += kept
    if answer is not None and (thought or 0) > answer:
        answer += thought or 0
    if total is not None and prompt is not None:
        answer = max(answer or 0, total - prompt)
    return {"prompt_tokens": prompt, "cached_tokens": cached, "answer_tokens": answer, "thought_tokens": thought}


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
        finish = piece.finish if trouble.translate_finish(piece.finish) else self.last.finish
        counts = {name: getattr(piece, name) for name in COUNTS if getattr(piece, name) is not None}
        self.last = replace(self.last, finish=finish, model=piece.model or self.last.model, **counts)

    def finished(self, *, streamed: bool) -> Assembly:
        """Return the answer, which is whole. Raises Trouble."""
        if not self._pieces:
            raise garbage(f"the answer is not one of the api {self.api.name}")
        if not self._has_choice:
            raise garbage("the endpoint sent a list of answers with nothing in it")
        finish = trouble.translate_finish(self.last.finish)
        is_one_piece = self._is_whole and self._pieces == 1
        # A stream that was cut looks like one that ended, except that it names neither a reason nor an end.
        if not (finish or self.is_done or is_one_piece or not streamed):
            raise broken("the answer broke off")
        if not (finish or self.text.strip() or self.refused):
            raise broken("the answer is empty, and the endpoint gives no reason")
        if finish.startswith(trouble.BROKEN):
            raise broken(f"the answer is {finish}: the endpoint gave it up")
        return self

    @property
    def finish(self) -> str:
        """Return the reason why the model stopped, as `Reply` names it."""
        if self.refused and not self.text:
            return trouble.REFUSAL
        return trouble.translate_finish(self.last.finish) or "unknown"

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
