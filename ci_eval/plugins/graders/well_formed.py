"""A grader that checks if a file can still be parsed with the suggestion in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ci_eval.core.contracts import Grader, Pairing
from ci_eval.core.grammar.syntax import Node, parser

GRAMMARS = {
    "c": ("c",),
    "cpp": ("cpp",),
    "csharp": ("c_sharp",),
    "go": ("go",),
    "java": ("java",),
    "javascript": ("javascript",),
    "kotlin": ("kotlin",),
    "php": ("php",),
    "python": ("python",),
    "ruby": ("ruby",),
    "rust": ("rust",),
    "scala": ("scala",),
    "typescript": ("typescript", "tsx"),
}
"""The names of a language's grammars in the bundles; of several, the one that reads the file best is used."""


class WellFormed:
    """A grader that puts the suggestion in place of the expected text in its file, as the file is on disk."""

    name = "well-formed"
    summary = "1 where the file has no more syntax errors than with the expected text; needs the file"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """Return `wellFormed`, or nothing if no grammar knows the language; see `Grader`."""
        grammars = GRAMMARS.get(pairing.language, ())
        if not grammars:
            return {}
        original = pairing.before + pairing.reference + pairing.after
        errors_before, grammar = min((errors(original, grammar), grammar) for grammar in grammars)
        errors_after = errors(pairing.before + pairing.hypothesis + pairing.after, grammar)
        return {"wellFormed": float(errors_after <= errors_before)}


# All suggestions of a session are graded beside the same original.
@lru_cache(maxsize=8)
def errors(text: str, grammar: str) -> int:
    waiting: list[Node] = [parser(grammar).parse(text.encode(errors="replace")).root_node]
    count = 0
    while waiting:
        node = waiting.pop()
        count += node.type == "ERROR" or node.is_missing
        if node.has_error:
            waiting += node.children
    return count


GRADER: Grader = WellFormed()
