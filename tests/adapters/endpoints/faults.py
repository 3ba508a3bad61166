"""Faults that endpoints have, one of which a test draws for each request."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from tests.adapters.endpoints.scripted import Reply, events, fails, sends, whole


@dataclass(frozen=True)
class Fault:
    """A reply that is no answer."""

    words: str
    """The words that the message about it has."""
    reply: Reply


def good_answer(text: str) -> bytes:
    """A whole stream; the counts of a short question would say that a long one was cut."""
    return b": hm\n\ndata: {}\n\n" + events(text).replace(b": 10,", b": 2000,")


def any_fault(chance: random.Random, text: str) -> Fault:
    """Return a random fault that replaces the answer with this text."""
    good = good_answer(text)
    return chance.choice([
        Fault("429", fails(429, "Throttled: too many tokens this minute, context length", Retry_After="1")),
        Fault("429", fails(429, "Rate limit reached. Please try again in 20s.")),
        Fault("500", fails(500, "boom")),
        Fault("Loading model", fails(503, "Loading model")),
        Fault("524", sends(b"<html>late</html>", 524)),
        Fault("not JSON", sends(b"<html>Bad gateway</html>")),
        # Without its last events a stream may be broken off, not be JSON, or be of another api.
        Fault("", sends(good[: chance.randrange(1, good.index(b'"stop"'))])),
        Fault("connection broke", sends(good[:50], length=len(good))),
        Fault("(error)", sends(good.replace(b'"stop"', b'"error"'))),
        Fault("insufficient_system_resource", sends(good.replace(b'"stop"', b'"insufficient_system_resource"'))),
        Fault("busy", sends(b'data: {"object": "error", "message": "busy", "code": 503}\n\n')),
        Fault("boom", sends(b'data: {"error": {"message": "boom"}}\n\ndata: [DONE]\n\n')),
        Fault("does not have the form of api", sends(b'data: {"type": "ping"}\n\n')),
        Fault("left out part of the question", sends(json.dumps(whole("cut", prompt=3)).encode())),
    ])  # fmt: skip
