"""The mining of Python, by local rules and by the standard library's stubs for what its functions return."""

from __future__ import annotations

import re

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.usages.contract import Dialect, MinedText, Surroundings
from ci_eval.plugins.mining.usages.languages.python.library import known
from ci_eval.plugins.mining.usages.languages.python.meaning import modules, qualify_module
from ci_eval.plugins.mining.usages.languages.python.walk import PythonWalk


def mine(source: bytes, path: str, root: Node, around: Surroundings) -> MinedText:
    is_package = path.endswith("__init__.py")
    walk = PythonWalk(source, qualify_module(path), known, around, is_package=is_package)
    return walk.run(root).mined(broken=root.has_error)


# The last dot of an ellipsis does not dangle.
DANGLING = re.compile(rb"(?<!\.)\.(?=[ \t]*$)", re.MULTILINE)
DIALECT = Dialect(name="python", grammars={".py": "python"}, mine=mine, dangling=DANGLING, own=modules)
