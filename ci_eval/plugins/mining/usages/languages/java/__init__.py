"""The mining of Java, by what the file declares and imports."""

from __future__ import annotations

import re

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.usages.contract import Dialect, MinedText, Surroundings
from ci_eval.plugins.mining.usages.languages.java.names import project_types
from ci_eval.plugins.mining.usages.languages.java.walk import JavaWalk


def mine(source: bytes, _: str, root: Node, around: Surroundings) -> MinedText:
    return JavaWalk(source, root, around).run()


# A dot does not dangle if the next line begins with a call, as in chains of calls.
DANGLING = re.compile(rb"\.(?=[ \t]*(?:\n[ \t]*(?![ \t])(?!\w+[ \t]*\()|\Z))")
DIALECT = Dialect(name="java", grammars={".java": "java"}, mine=mine, dangling=DANGLING, own=project_types)
