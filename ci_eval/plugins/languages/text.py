"""The language of plain text: every identifier is a token without known properties."""

from __future__ import annotations

import re

from ci_eval.core.contracts import Declarations, Language
from ci_eval.core.model import Extraction, Kind, Properties, Token

_IDENTIFIER = re.compile(r"\b[^\W\d]\w*")
_PROPERTIES = Properties(kind=Kind.VARIABLE)


def extract(text: str, _path: str, _declared: Declarations) -> Extraction:
    """Return the identifiers. An identifier is a letter or `_`, followed by letters, digits and `_`."""
    # There is no grammar, so words in comments and strings count, too.
    tokens = [
        Token(offset=match.start(), text=match.group(), properties=_PROPERTIES) for match in _IDENTIFIER.finditer(text)
    ]
    return Extraction(tokens=tuple(tokens), unparsable=0.0)


LANGUAGE: Language = Language(name="text", title="Plain text", grammars={"": ""}, keywords=frozenset(), extract=extract)
