"""The language JavaScript: which names in a file are references, and what kind each is."""

from __future__ import annotations

from ci_eval.core.contracts import Declarations, Language
from ci_eval.core.grammar.ecmascript.definitions import EcmaDefinitions
from ci_eval.core.grammar.ecmascript.names import NAME, declare
from ci_eval.core.grammar.ecmascript.shape import SHAPE
from ci_eval.core.grammar.ecmascript.walk import KEYWORDS
from ci_eval.core.grammar.importing.ecmascript import SYNTAX
from ci_eval.core.grammar.imports.ecmascript import imports
from ci_eval.core.grammar.walk import extract_tokens
from ci_eval.core.model import Extraction


class JavaScriptWalk(EcmaDefinitions):
    """A walk over JavaScript, in which objects get members by assignment."""

    # TypeScript wants members declared in the class, so only JavaScript creates them by assignment.
    grows = frozenset(["exports", "class", "function", "object", ""])
    this_grows = True


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    return extract_tokens(JavaScriptWalk(text.encode(), path, declared), "javascript")


LANGUAGE: Language = Language(
    name="javascript",
    title="JavaScript",
    dependencies="node",
    grammars=dict.fromkeys([".js", ".mjs", ".cjs", ".jsx"], "javascript"),
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=SHAPE,
    word=NAME,
    imports=imports,
    import_syntax=SYNTAX,
)
