"""The JSON objects in the body of a response: events, an object a line, or one object over many lines."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ci_eval.plugins.adapters.endpoints.http.trouble import classify_error, garbage

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
