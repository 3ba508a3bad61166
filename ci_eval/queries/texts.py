"""Texts that a dataset holds once each, on lines of their own, and refers to by their digests."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256

import msgspec

from ci_eval.model import StoredText

LARGEST = 1_000_000
"""Bytes of the largest text."""
OPEN = 64
"""Texts that are kept unpacked."""


def encoded(text: str) -> bytes:
    """As UTF-8; what no UTF-8 has becomes question marks."""
    return text.encode(errors="replace")


def digest_of(text: str) -> str:
    """What a text is known by."""
    return sha256(encoded(text)).hexdigest()


def stored(text: str) -> StoredText:
    """The text as a line."""
    return StoredText(text=digest_of(text), packed=zlib.compress(encoded(text), 9))


def is_text(line: object) -> bool:
    """Whether a line of a dataset is a text, rather than what refers to one."""
    return isinstance(line, Mapping) and "packed" in line


class Texts:
    """Those of a dataset, found by their digests."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}
        self._unpacked = lru_cache(OPEN)(self._unpack)

    def add(self, line: object) -> None:
        """A line that is a text; one that is broken is passed over, since who reads the dataset tells of it."""
        with suppress(ValueError):
            found = read(line)
            self._packed[found.text] = found.packed

    def get(self, digest: str) -> str:
        """The text. Raises ValueError where the dataset has none, or another one, under that digest."""
        return self._unpacked(digest)

    def _unpack(self, digest: str) -> str:
        if digest not in self._packed:
            raise ValueError(f"the dataset has no text {digest[:12]}: mine it again with --texts")
        unpacking = zlib.decompressobj()
        try:
            data = unpacking.decompress(self._packed[digest], LARGEST + 1)
            text = data.decode()
        except (zlib.error, UnicodeDecodeError) as error:
            raise ValueError(f"the text {digest[:12]} is damaged: {error}") from error
        if len(data) > LARGEST:
            raise ValueError(f"the text {digest[:12]} has more than {LARGEST:,} bytes")
        if "\r" in text or "\0" in text:
            raise ValueError(f"the text {digest[:12]} holds a NUL, or line ends other than \\n")
        if sha256(data).hexdigest() != digest:
            raise ValueError(f"the text {digest[:12]} is damaged: its digest is another one")
        return text


def read(line: object) -> StoredText:
    """A line that is a text. Raises ValueError."""
    return msgspec.convert(line, StoredText)
