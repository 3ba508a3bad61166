"""The imports of names in a file: which are there, what they name, and what the file is without one of them."""

from __future__ import annotations

from ci_eval.core.grammar.reading import lost_bytes
from ci_eval.core.grammar.syntax import parser
from ci_eval.core.import_syntax import ImportSyntax


def count_errors(syntax: ImportSyntax, text: str, grammar: str) -> int:
    """Return the extent of the text's syntax errors; 0 = there are none."""
    if syntax.errors:
        return syntax.errors(text, grammar)
    return lost_bytes(parser(grammar).parse(text.encode()).root_node)
