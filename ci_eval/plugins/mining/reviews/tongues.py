"""The natural language that a comment is written in, by its letters and its most frequent words."""

from __future__ import annotations

import re
from collections import Counter

_CODE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|https?://\S+|^[ \t]*>[^\n]*|<!--.*?-->", re.DOTALL | re.MULTILINE
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TOKEN = re.compile(r"\S+")
_IDENTIFIER = re.compile(r"[A-Za-z]*[a-z][A-Z]\w*|\w*_\w*|\w+[.(:/\\]\w.*|\w*\d\w*|@\w+")
CYRILLIC = re.compile(r"[\u0400-\u04ff]")
RUSSIAN = re.compile(r"[а-яё]+(?:-[а-яё]+)*", re.IGNORECASE)
UKRAINIAN = re.compile(r"[іїєґ]", re.IGNORECASE)
SCRIPTS = (("ja", r"[\u3040-\u30ff]"), ("ko", r"[\uac00-\ud7af]"), ("zh", r"[\u4e00-\u9fff]"))
LEAST = 0.3
"""The share of words in Cyrillic from which on a comment is written in it: names of code are in Latin letters."""
FREQUENT = {
    "en": "the a an is are be to of and in it this that for with not you we i should can could would have has do does "
    "if on or why what when here there but use please make just need needs",
    "de": "der die das und ist nicht ein eine zu von mit für auf hier wird sollte kann wir ich sich auch bitte warum "
    "den dem oder noch aber wenn",
    "fr": "le la les et est une des du dans pas pour que qui avec sur ce cette il faut peut on nous je vous pourquoi "
    "ici être au si",
    "es": "el la los las y es una de que en no por para con se esto este esta debería puede aquí más pero si como hay "
    "mejor",
    "pt": "o os as e é um uma de que em não por para com se isso este esta deveria pode aqui mais mas do da melhor "
    "você",
}
_FREQUENT = {language: frozenset(words.split()) for language, words in FREQUENT.items()}
NAMES = (*FREQUENT, "ru", "uk", *(name for name, _ in SCRIPTS))
"""The languages that are told apart."""


def detect_language(comment: str) -> str:
    """Return the language of a comment as its code (ISO 639-1), an empty string if it cannot be told.

    Code, quotations and addresses do not count.
    """
    text = _CODE.sub(" ", comment)
    for name, letters in SCRIPTS:
        if re.search(letters, text):
            return name
    prose = " ".join(token for token in _TOKEN.findall(text) if not _IDENTIFIER.fullmatch(token))
    words = _WORD.findall(prose)
    cyrillic = [word for word in words if CYRILLIC.search(word)]
    if cyrillic and len(cyrillic) >= LEAST * len(words):
        if all(map(RUSSIAN.fullmatch, cyrillic)):
            return "ru"
        return "uk" if any(map(UKRAINIAN.search, cyrillic)) else ""
    return _detect_latin([word.lower() for word in words]) if words else ""


def _detect_latin(words: list[str]) -> str:
    hits = Counter({name: sum(word in frequent for word in words) for name, frequent in _FREQUENT.items()})
    (first, most), (_, next_most) = hits.most_common(2)
    if most > next_most:
        return first
    # Remarks such as "Unused import" have no frequent word; those in English are plain letters.
    return "en" if not most and all(map(str.isascii, words)) else ""
