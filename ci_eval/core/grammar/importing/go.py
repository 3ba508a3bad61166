"""The imports of Go: packages, by their paths."""

from __future__ import annotations

import re
from collections import Counter

from ci_eval.core.grammar.importing.flat import FlatModules
from ci_eval.core.import_syntax import Import, ImportSyntax

_STATEMENT = re.compile(r"^import[ \t]*(?:\((?P<block>[^)]*)\)|(?P<one>[^\n]*))\n?", re.MULTILINE)
_SPEC = re.compile(r"^[ \t]*(?:(?P<alias>[\w.]+)[ \t]+)?\"(?P<path>[^\"\n]+)\"[^\n]*\n?", re.MULTILINE)
_VERSION = re.compile(r"/v\d+$|\.v\d+$")


def read(text: str) -> list[Import]:
    """Return the imports. A package's name is taken to be the last part of its path without a version."""
    imports: list[Import] = []
    for statement in _STATEMENT.finditer(text):
        in_block = statement["block"] is not None
        begin = statement.start("block" if in_block else "one")
        for spec in _SPEC.finditer(statement["block"] if in_block else statement["one"]):
            path, alias = spec["path"], spec["alias"]
            name = alias or _VERSION.sub("", path).rpartition("/")[2]
            span = (begin + spec.start(), begin + spec.end()) if in_block else statement.span()
            imports.append(Import(name, path, "", *span, removable=alias is None and name.isidentifier()))
    names = Counter(item.name for item in imports)
    return [item._replace(removable=item.removable and names[item.name] == 1) for item in imports]


SYNTAX = ImportSyntax(read=read, modules=FlatModules)
