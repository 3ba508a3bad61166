"""The JSON objects in the body of a response: events, an object a line, or one object over many lines."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ci_eval.adapters.endpoints.http.trouble import garbage, of_object

DONE = object()
"""The end of a stream that says so."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_FIELDS = (b":", b"event:", b"id:", b"retry:")
"""How lines of a stream begin that hold no data."""


def whole(parts: Iterable[bytes]) -> Iterator[Any]:
    """Yield the one object that all parts make up. Raises Trouble."""
    yield _parsed(b"".join(parts).removeprefix(codecs.BOM_UTF8))


def objects(parts: Iterable[bytes]) -> Iterator[Any]:
    """Yield the objects of a stream, and DONE for its end mark. Raises Trouble.

    An event may spread its data over several lines, and an endpoint may answer in one piece although it was asked to
    stream. What is no JSON at all, such as `data: ping`, is passed over.
    """
    data, rest = b"", b""
    for line in lines(parts):
        text = line.strip()
        is_event = text.startswith(b"data:")
        if text.startswith(b"error:"):
            raise of_object(text[6:].decode(errors="replace"))
        if is_event:
            text = text[5:].strip()
        elif not text or (not rest and text.startswith(_FIELDS)):
            continue
        if is_event and text == b"[DONE]":
            yield DONE
            continue
        if is_event:
            data, parsed = _joined(data, text)
        else:
            rest, parsed = _joined(rest, text)
        if parsed is not None:
            yield parsed
    for left in (data, rest):
        if left:
            yield _parsed(left)


def _joined(held: bytes, text: bytes) -> tuple[bytes, Any]:
    """Return what is held back until more of it comes, and the object that is whole now, if one is."""
    joined = held + b"\n" + text if held else text
    if not joined.startswith((b"{", b"[")):
        return (b"", None) if _is_word(joined) else (joined, None)
    if held and not text.endswith((b"}", b"]")):
        return joined, None
    try:
        return b"", json.loads(joined)
    except (ValueError, RecursionError):
        return joined, None


def _is_word(text: bytes) -> bool:
    """Return whether this is a sign of life (`ping`, `[PING]`, an empty text) rather than the part of a page."""
    return len(text) < 40 and b"<" not in text


def lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines, which end with LF, CR LF or CR (https://html.spec.whatwg.org/multipage/server-sent-events.html);
    a byte order mark before them is none of the text."""
    rest, is_first = b"", True
    for part in parts:
        rest += part
        if is_first and len(rest) >= len(codecs.BOM_UTF8):
            rest, is_first = rest.removeprefix(codecs.BOM_UTF8), False
        # A CR at the end may be half of a CR LF.
        held = rest[-1:] if rest.endswith(b"\r") else b""
        *found, rest = _LINE_END.split(rest.removesuffix(b"\r") if held else rest)
        rest += held
        yield from found
    if rest:
        yield rest.removesuffix(b"\r").removeprefix(codecs.BOM_UTF8 if is_first else b"")


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise garbage("the answer is no JSON") from None
