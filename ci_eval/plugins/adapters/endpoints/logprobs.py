"""The log-probabilities of the tokens of an answer, if the endpoint tells them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ci_eval.plugins.adapters.endpoints.contract import Logprobs, Reply

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
        yield _octets(token), _logprob(token["logprob"])


def _octets(token: Mapping[str, Any]) -> int:
    # A token may be part of a character; only `bytes` tells its length.
    octets = token.get("bytes")
    return len(octets) if isinstance(octets, list) else len(token["token"].encode("utf-8", "replace"))


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
