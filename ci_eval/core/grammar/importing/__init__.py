"""The imports of names in a file: which are there, what they name, and what the file is without one of them."""

from __future__ import annotations

from collections.abc import Mapping

from ci_eval.core.grammar.importing import ecmascript, go, python
from ci_eval.core.grammar.importing.contract import ImportSyntax

SYNTAXES: Mapping[str, ImportSyntax] = {
    "python": python.SYNTAX,
    "javascript": ecmascript.SYNTAX,
    "typescript": ecmascript.SYNTAX,
    "go": go.SYNTAX,
}
"""The syntax of imports by the language's name."""
