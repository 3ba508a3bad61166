"""Newer syntax, one construct per block of `modern/LANGUAGE.txt`: a comment, the code, and behind `=>` its tokens but
for keywords, as `text:KIND`. Nothing may count as unreadable, but where the comment ends in `(partly lost)`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import Language
from ci_eval.core.model import Extraction, Kind

BLOCKS = Path(__file__).parent / "modern"
SHORT = {
    Kind.METHOD_CALL: "CALL",
    Kind.FIELD: "FIELD",
    Kind.VARIABLE: "VAR",
    Kind.TYPE_REFERENCE: "TYPE",
    Kind.ARGUMENT_NAME: "ARGN",
    Kind.IMPORT: "IMPORT",
}


def blocks(language: str) -> list[tuple[str, str, str]]:
    """The title, the code and the tokens of each block."""
    parts = (BLOCKS / f"{language}.txt").read_text().split("\n# ")
    split = [part.removeprefix("# ").partition("\n") for part in parts]
    return [(title, *body.rsplit("\n=> ", 1)) for title, _, body in split]  # type: ignore[misc]


def extraction(language: str, code: str) -> Extraction:
    known: Language = languages.CATALOG.load(language)
    text = "<?php\n" + code if language == "php" else code
    return known.extract(text, f"file{next(iter(known.grammars))}", {})


@pytest.mark.parametrize("language", sorted(file.stem for file in BLOCKS.iterdir()))
def test_newer_syntax_has_the_tokens_stated(language: str) -> None:
    wrong = []
    for title, code, stated in blocks(language):
        found = extraction(language, code)
        names = [t for t in found.tokens if t.properties.kind in SHORT]
        actual = " ".join(f"{t.text}:{SHORT[t.properties.kind]}" for t in names)
        if actual != stated.strip():
            wrong.append(f"{title}\n  stated: {stated.strip()}\n  actual: {actual}")
        if bool(found.unparsable) != title.endswith("(partly lost)"):
            wrong.append(f"{title}\n  unparsable: {found.unparsable:.2%}")
    assert not wrong, f"{len(wrong)} in {language}:\n" + "\n".join(wrong)
