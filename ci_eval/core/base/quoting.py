"""Quoting of other people's texts in messages. Secrets are hidden first, since no part of them may be printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

HIDDEN = "[key]"
NAMED = 5
LONGEST = 100
"""The longest value in a sentence, in characters."""
_PASSWORD = re.compile(r"(?<=://)[^/\s@]+@")
_secret: ContextVar[str] = ContextVar("secret", default="")


@contextmanager
def hiding(secret: str) -> Iterator[None]:
    """Hide a secret in all texts that are quoted within the context. An empty secret hides nothing."""
    token = _secret.set(secret)
    try:
        yield
    finally:
        _secret.reset(token)


def hide(text: str) -> str:
    """Return the text without lone surrogates, and with a mark in place of the secret."""
    # JSON may hold one half of a surrogate pair, which cannot be written as UTF-8.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace(_secret.get(), HIDDEN) if _secret.get() else text


def quote(text: str | bytes, most: int | None = None) -> str:
    """Return another person's text for a message, without the secret and without passwords in addresses. `most`: the
    number of its first characters to return; if negative, of its last ones; None = all."""
    text = text.decode(errors="backslashreplace") if isinstance(text, bytes) else text
    text = _PASSWORD.sub("", hide(text))
    return text[most:] if most is not None and most < 0 else text[:most]


def abbreviate_names(names: Sequence[str]) -> str:
    more = [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])


def short(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
