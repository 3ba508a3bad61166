"""Quoting of untrusted texts in messages. Secrets are replaced before texts are cut, so that no part is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

HIDDEN = "[key]"
NAMED = 5
LONGEST = 100
"""The number of characters to which a value in a sentence is shortened."""
_PASSWORD = re.compile(r"(?<=://)[^/\s@]+@")
_secret: ContextVar[str] = ContextVar("secret", default="")


@contextmanager
def hiding(secret: str) -> Iterator[None]:
    """Hide a secret in all texts that are quoted in the block. An empty secret hides nothing."""
    token = _secret.set(secret)
    try:
        yield
    finally:
        _secret.reset(token)


def hide(text: str) -> str:
    """Return the text with the secret replaced by HIDDEN, and with lone surrogates replaced."""
    # JSON can contain half of a surrogate pair, which UTF-8 cannot encode.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace(_secret.get(), HIDDEN) if _secret.get() else text


def quote(text: str | bytes, most: int | None = None) -> str:
    """Return an untrusted text for a message, without the secret and without passwords in URLs. `most`: the largest
    number of characters to return, from the end if negative; None = all characters."""
    text = text.decode(errors="backslashreplace") if isinstance(text, bytes) else text
    text = _PASSWORD.sub("", hide(text))
    return text[most:] if most is not None and most < 0 else text[:most]


def abbreviate_names(names: Sequence[str]) -> str:
    more = [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
    return ", ".join([*names[:NAMED], *more])


def short(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
