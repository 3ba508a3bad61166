"""What can go wrong with one request, and what it means: ask again, or give up."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from ci_eval.errors import EngineFailure, EngineMisbehaved, EngineRaised, EngineTimeout

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Codes after which the same request may be answered; 529 is "overloaded" at some endpoints."""
SPENT = ("insufficient_quota", "billing", "credit balance")
"""Words of a 429 that no waiting mends."""
TOO_LONG = ("context_length", "exceed_context_size", "context length", "context window", "too many tokens")
"""Words of a refusal because of the prompt's length, as OpenAI, llama.cpp, vLLM and others put it."""
MOST_SAID = 300
"""Characters of the endpoint's own words that go into a message."""


@dataclass
class Trouble(Exception):
    """One request failed."""

    reason: str
    again: bool = False
    """Whether the same request may be answered later."""
    wait: float | None = None
    """Seconds that the endpoint wants to be left alone."""
    kind: type[EngineFailure] = EngineRaised
    for_good: bool = False
    """Whether the endpoint will say so each time it is asked this: worth keeping."""


def timed_out(seconds: float) -> Trouble:
    """No whole answer in time; a person would not ask again."""
    return Trouble(f"no answer within {seconds:g} s (interpret.timeout)", kind=EngineTimeout)


def broken(reason: str) -> Trouble:
    """The connection."""
    return Trouble(reason, again=True)


def garbage(reason: str) -> Trouble:
    """An answer that is none: often a proxy's page, which is gone a second later."""
    return Trouble(reason, again=True, kind=EngineMisbehaved)


def of_code(code: int, headers: Mapping[str, str], body: bytes, key: str | None) -> Trouble:
    """What an answer with a code other than 200 means; `key`: name of the variable with the key."""
    said = words_of(body)
    low = said.lower()
    if 300 <= code < 400:
        return Trouble(
            f"the endpoint answered {code}: a redirect, which is not followed; give its target as the address"
        )
    if code in {401, 403}:
        missing = f"the key in {key} was not accepted" if key else "name the variable with your key: engine.key"
        return Trouble(f"the endpoint answered {code}{said}: {missing}")
    if any(word in low for word in TOO_LONG):
        reason = f"the question is too long for the model{said}; lower engine.window"
        return Trouble(reason, for_good=True)
    again = code in AGAIN and not any(word in low for word in SPENT)
    return Trouble(f"the endpoint answered {code}{said}", again=again, wait=wait_of(headers.get("Retry-After", "")))


def words_of(body: bytes) -> str:
    """The message in an error of the endpoint, as `" (…)"`; "" without one."""
    try:
        found: Any = json.loads(body)
    except ValueError:
        found = body.decode(errors="replace") if body.lstrip()[:1] != b"<" else ""
    return _shortened(found)


def of_object(found: object) -> Trouble:
    """An error that came in the middle of a stream."""
    said = _shortened({"error": found})
    if any(word in said.lower() for word in TOO_LONG):
        return Trouble(f"the question is too long for the model{said}; lower engine.window", for_good=True)
    return Trouble(f"the endpoint broke off with an error{said}", again=True)


def _shortened(found: Any) -> str:
    if isinstance(found, dict):
        found = found.get("error", found.get("message", found.get("detail", "")))
    if isinstance(found, dict):
        words = [str(found[name]) for name in ("code", "type", "message") if found.get(name)]
        found = ", ".join(words)
    text = " ".join(str(found).split())
    return f" ({text[:MOST_SAID]})" if text else ""


def wait_of(header: str) -> float | None:
    """Seconds that a Retry-After header asks for, in either of its forms: a number, or a date."""
    header = header.strip()
    if not header:
        return None
    try:
        return max(float(header), 0.0)
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(header).timestamp() - time.time(), 0.0)
    except ValueError:
        return None
