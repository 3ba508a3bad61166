"""The imports of Java: `import package.Type;`."""

from __future__ import annotations

import re
from collections import Counter

from ci_eval.core.grammar.importing.flat import FlatModules
from ci_eval.core.import_syntax import Import, ImportSyntax

_STATEMENT = re.compile(
    r"^import[ \t]+(?P<static>static[ \t]+)?(?P<module>\w+(?:\.\w+)*)\.(?P<name>\w+)[ \t]*;[^\n]*\n?", re.MULTILINE
)


def read(text: str) -> list[Import]:
    """Return the imports of single names; static ones cannot be removed, since engines do not add them."""
    imports = [
        Import(
            name=statement["name"],
            module=statement["module"],
            original=statement["name"],
            begin=statement.start(),
            end=statement.end(),
            removable=not statement["static"] and statement[0].count(";") == 1,
        )
        for statement in _STATEMENT.finditer(text)
    ]
    names = Counter(item.name for item in imports)
    return [item._replace(removable=item.removable and names[item.name] == 1) for item in imports]


SYNTAX = ImportSyntax(read=read, modules=FlatModules)
