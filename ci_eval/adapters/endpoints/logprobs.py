"""How likely the model took each token of its answer to be, where the endpoint tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ci_eval.adapters.endpoints.contract import Logprobs, Reply

LOWEST = -9999.0
"""What OpenAI gives a token that is too unlikely to tell."""


def logprobs_of(found: Any) -> Logprobs:
    """From what an answer tells: tokens with their `logprob`, alone or as `content` (chats; llama.cpp in all apis); or
    `tokens` beside `token_logprobs` (OpenAI's completions). Nothing for None.

    Raises LookupError, TypeError or ValueError for what is none of them.
    """
    if found is None:
        return ()
    if isinstance(found, Mapping) and "token_logprobs" in found:
        pairs = zip(found["tokens"], found["token_logprobs"], strict=True)
        return tuple((len(token.encode()), _logprob(value)) for token, value in pairs)
    listed = found.get("content") if isinstance(found, Mapping) else found
    return tuple((_octets(each), _logprob(each["logprob"])) for each in listed or ())


def _octets(token: Mapping[str, Any]) -> int:
    """A token may be part of a character, which only `bytes` tells."""
    octets = token.get("bytes")
    return len(octets) if isinstance(octets, list) else len(token["token"].encode("utf-8", "replace"))


def _logprob(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("a log-probability is a number")
    return min(max(float(value), LOWEST), 0.0)


def mean_logprob(reply: Reply, begin: int, end: int) -> float | None:
    """The mean over the tokens that begin between these offsets (code points) of the answer; None if none does."""
    first, behind = (len(reply.text[:place].encode()) for place in (begin, end))
    places: Sequence[int] = list(accumulate((octets for octets, _ in reply.logprobs), initial=0))
    # Some tokens, such as an end, have no text; between others they count.
    within = [value for place, (_, value) in zip(places, reply.logprobs, strict=False) if first <= place < behind]
    return sum(within) / len(within) if within else None
