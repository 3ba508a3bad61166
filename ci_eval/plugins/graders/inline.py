"""The graders of suggested lines, statements and blocks: how much is right, and whether the file can be parsed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ci_eval.core.base.subtokens import longest_common
from ci_eval.core.contracts import Grader, Pairing
from ci_eval.core.grammar.syntax import Node, parse_tree

_TOKEN = re.compile(r"\w+|[^\w\s]")


class Inline:
    """A grader of the suggested text with five scores.

    lineMatch: 1 if the text is the expected text, else 0.
    editSimilarity: 2 · common / (sum of both lengths), where common is the length of the longest common subsequence of
    characters (`fuzz.ratio`, as CodeXGLUE, CrossCodeEval and RepoBench report it).
    matched: the text's length if the expected text begins with the text, else 0 (JetBrains' plugin: matched ratio).
    firstLine: the length of the text's first line if it is equal to the expected first line, else 0.
    firstToken: 1 if the first word or sign is equal to the expected one, else 0.
    """

    name = "inline"
    summary = "lines and blocks: exact match, edit similarity, characters saved, first token"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        expected, text = pairing.reference, pairing.hypothesis
        line = text.partition("\n")[0]
        return {
            "editSimilarity": similarity(expected, text),
            "lineMatch": float(text == expected),
            "matched": float(len(text) if expected.startswith(text) else 0),
            "firstLine": float(len(line) if expected.partition("\n")[0] == line else 0),
            "firstToken": float(_first(text) == _first(expected)),
        }


def similarity(one: str, other: str) -> float:
    """Return `editSimilarity` (see Inline), which is 1 for two empty texts."""
    lengths = len(one) + len(other)
    return 2 * longest_common(one, other) / lengths if lengths else 1.0


def _first(text: str) -> str:
    match = _TOKEN.search(text)
    return match[0] if match else ""


_SAME_NAME = ("c", "cpp", "go", "java", "javascript", "kotlin", "php", "python", "ruby", "rust", "scala")
GRAMMARS = {
    **{language: (language,) for language in _SAME_NAME},
    "csharp": ("c_sharp",),
    "typescript": ("typescript", "tsx"),
}
"""Language → names of its grammars in the bundles. The grammar that finds the fewest errors in a file is used."""


class WellFormed:
    """A grader that replaces the expected text by the suggestion, and compares the file's numbers of syntax errors."""

    name = "well-formed"
    summary = "1 where the file has no more syntax errors than with the expected text; needs the file"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """Return `wellFormed`, or an empty mapping without a grammar of the language; see `Grader`."""
        grammars = GRAMMARS.get(pairing.language, ())
        if not grammars:
            return {}
        original = pairing.before + pairing.reference + pairing.after
        errors_before, grammar = min((errors(original, grammar), grammar) for grammar in grammars)
        errors_after = errors(pairing.before + pairing.hypothesis + pairing.after, grammar)
        return {"wellFormed": float(errors_after <= errors_before)}


# All suggestions of a session are compared with the same original, so its errors are cached.
@lru_cache(maxsize=8)
def errors(text: str, grammar: str) -> int:
    waiting: list[Node] = [parse_tree(text.encode(errors="replace"), grammar).root_node]
    count = 0
    while waiting:
        node = waiting.pop()
        count += node.type == "ERROR" or node.is_missing
        if node.has_error:
            waiting += node.children
    return count


GRADERS: Mapping[str, Grader] = {"inline": Inline(), "well-formed": WellFormed()}
