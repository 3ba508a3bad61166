"""The names that a place in a Python file can see, by the scopes of the walk."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Mapping

from ci_eval.core.grammar.scopes import Scope

# These are the names of the Python that runs ci-eval, whatever the project's is.
BUILTINS = frozenset(dir(builtins)) | frozenset(
    # Python defines these in modules, and in classes or their methods.
    "__file__ __path__ __package__ __all__ __annotations__ __class__ __qualname__ __module__".split()
)
_STAR = re.compile(r"\bimport\s*\(?\s*\*")


class Visibility:
    """The names that are visible in one file. It knows nothing of files that import all names of another module."""

    def __init__(self, text: str, scopes: Mapping[int, tuple[Scope, bool]]) -> None:
        """Take the text, and by offset (bytes) of a token its scope, and whether a class body surrounds it directly."""
        self._text = text
        self._scopes = scopes
        self._has_star = bool(_STAR.search(text))

    def _place(self, offset: int) -> tuple[Scope, bool] | None:
        byte = offset if self._text.isascii() else len(self._text[:offset].encode())
        return self._scopes.get(byte)

    def origin(self, offset: int, name: str) -> str:
        """Return where a name is defined that is visible at an offset (code points); "" if it is not, or not known."""
        place = self._place(offset)
        scope: Scope | None = place[0] if place else None
        own = scope
        while scope:
            if name in scope.names and (scope is own or scope.kind != "class"):
                return "local" if scope.kind == "function" else "file"
            scope = scope.parent
        return "builtin" if name in BUILTINS else ""

    def is_barred(self, offset: int, name: str, *, is_member: bool) -> bool | None:
        """Return whether a bare name can only be a member, whose object is missing. None if that is not known.
        `is_member`: whether the engine says that it is one."""
        place = self._place(offset)
        if place is None or self._has_star:
            return None
        scope, in_class_body = place
        if self.origin(offset, name):
            return False
        around, classes = scope.parent, []
        while around:
            classes += [around] if around.kind == "class" else []
            around = around.parent
        # A comprehension in a class body sees the names of the class in its first iterable.
        if in_class_body and any(name in part.names for part in classes):
            return False
        return is_member or any(name in part.names for part in classes)

    def is_standard(self, package: str) -> bool:
        """Return whether a package belongs to the standard library."""
        return package.partition(".")[0] in sys.stdlib_module_names
