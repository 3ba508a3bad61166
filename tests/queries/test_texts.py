"""Texts that a dataset holds once."""

from __future__ import annotations

import zlib
from base64 import b64encode
from hashlib import sha256

import msgspec
import pytest

from ci_eval.core.queries.texts import LARGEST, Texts, hash_text, is_text, pack_text


def line(text: str) -> dict[str, object]:
    fields: dict[str, object] = msgspec.json.decode(msgspec.json.encode(pack_text(text)))
    return fields


def texts(*lines: object) -> Texts:
    fields = Texts()
    for each in lines:
        fields.add(each)
    return fields


def packed(data: bytes, digest: str = "") -> dict[str, object]:
    return {"text": digest or sha256(data).hexdigest(), "packed": b64encode(zlib.compress(data)).decode()}


@pytest.mark.parametrize("text", ["", "a = 1\n", "é\U0001f600\n" * 1000])
def test_a_text_is_found_by_its_digest(text: str) -> None:
    assert texts({"type": "T"}, line(text), "no JSON").get(hash_text(text)) == text


def test_what_no_utf_8_has_keeps_its_place() -> None:
    assert texts(line("a\ud800b")).get(hash_text("a\ud800b")) == "a?b"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (packed(b"a" * (LARGEST + 1)), "more than 1,000,000"),
        (packed(b"\xff"), "damaged: 'utf-8'"),
        (packed(b"a", "0" * 64), "digest"),
        (packed(b"a") | {"packed": "AAAA"}, "damaged: Error"),
        (packed(b"a") | {"packed": "é"}, "has no text"),
        (packed(b"a") | {"packed": 1}, "has no text"),
        ({"packed": ""}, "has no text"),
    ],
)
def test_a_bad_text_says_what_is_wrong(bad: dict[str, object], why: str) -> None:
    assert is_text(bad)
    with pytest.raises(ValueError, match=why):
        texts(bad).get(str(bad.get("text", "f" * 64)))
