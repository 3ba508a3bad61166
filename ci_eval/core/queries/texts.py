"""The texts of a dataset, each stored once on a line of its own, and referred to by digest."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256

import msgspec

from ci_eval.core.model import StoredText

LARGEST = 1_000_000
"""Bytes of the largest text."""
OPEN = 64
"""Number of texts that are cached unpacked."""


def encode(text: str) -> bytes:
    """Return the text as UTF-8, with question marks for what UTF-8 cannot express."""
    return text.encode(errors="replace")


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text, as hex."""
    return sha256(encode(text)).hexdigest()


def pack_text(text: str) -> StoredText:
    return StoredText(text=hash_text(text), packed=zlib.compress(encode(text), 9))


def is_text(line: object) -> bool:
    """Return whether a line of a dataset holds a text, rather than a reference to one."""
    return isinstance(line, Mapping) and "packed" in line


class Texts:
    """The texts of a dataset, accessible by digest."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}
        self._unpacked = lru_cache(OPEN)(self._unpack)

    def add(self, line: object) -> None:
        # Whoever reads the dataset reports broken lines, so this is no place for another message.
        with suppress(ValueError):
            entry = read(line)
            self._packed[entry.text] = entry.packed

    def get(self, digest: str) -> str:
        """Return the text. Raises ValueError if the dataset has none, or another one, under that digest."""
        return self._unpacked(digest)

    def _unpack(self, digest: str) -> str:
        if digest not in self._packed:
            raise ValueError(f"the dataset has no text {digest[:12]}: mine it again with --texts")
        unpacking = zlib.decompressobj()
        try:
            # One byte more shows that the text is too large.
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
    """Return the entry on a line that holds a text. Raises ValueError."""
    return msgspec.convert(line, StoredText)
