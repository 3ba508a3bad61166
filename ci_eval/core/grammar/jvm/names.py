"""The names of the JVM's languages: packages, how names are written, and what imports bring."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope

JVM_WORD = re.compile(r"`[^`\n]+`|[\w$]+")
"""A pattern of what names look like."""
_PACKAGE = re.compile(r"^[ \t]*package\s+([\w.`]+)", re.MULTILINE)


def read_package(text: str, path: str, *, nested: bool = False) -> str:
    """Return the package of a file: as its `package` clause says, else as its folder does. If `nested`, several clauses
    add up to one name, as in Scala."""
    clauses = _PACKAGE.findall(text)
    return ".".join(clauses if nested else clauses[:1]) if clauses else ".".join(PurePosixPath(path).parent.parts)


def is_type_name(name: str) -> bool:
    """Return whether a name is that of a type by convention: `Foo` and `T` are, `foo` and `FOO` are not."""
    return name[:1].isupper() and (len(name) == 1 or not name.isupper())


_ACRONYM = r"([A-Z][A-Z0-9]+)\b"
_ACRONYMS = (
    # What is imported from a package, declared, or made; static imports are of constants.
    re.compile(rf"import\s+(?!static\b|kotlin\.math\b)(?:[a-z_]\w*\.)+{_ACRONYM}"),
    re.compile(rf"new\s+{_ACRONYM}"),
    re.compile(rf"class\s+{_ACRONYM}"),
    re.compile(rf"interface\s+{_ACRONYM}"),
    re.compile(rf"object\s+{_ACRONYM}"),
    re.compile(rf"record\s+{_ACRONYM}"),
    re.compile(rf"trait\s+{_ACRONYM}"),
    re.compile(rf"type(?:alias)?\s+{_ACRONYM}"),
)
# `UUID id = …`, `UUID id)` of Java; behind a colon it is the branch of a condition there, elsewhere a type. What stands
# before is looked at last: patterns that begin with a plain character are found ten times as fast.
_BEFORE_NAME = re.compile(r"([A-Z](?<![\w.].)[A-Z0-9]+)\b (?!(?:when|instanceof)\b)[a-z]\w*\s*[=;,)]")
_BEHIND_COLON = re.compile(rf":(?:(?<=[\w)\]?]:)|(?<=[\w)\]?]\s:))\s*{_ACRONYM}")
_KNOWN_ACRONYMS = frozenset(["IO", "URI", "URL", "UUID"])


def acronyms(text: str, *, colons: bool) -> frozenset[str]:
    """Return the names of capitals alone that the text shows to be types, such as UUID.

    By convention others of that look are constants. `colons`: whether types stand behind colons.
    """
    patterns = (*_ACRONYMS, _BEHIND_COLON if colons else _BEFORE_NAME)
    return _KNOWN_ACRONYMS.union(*(pattern.findall(text) for pattern in patterns))


def package_part(path: str) -> str:
    """Return the package in a qualified name: `java.util` for `java.util.Map.Entry`."""
    parts = path.split(".")
    first = next((i for i, part in enumerate(parts) if part[:1].isupper()), len(parts))
    return ".".join(parts[:first])


class Known:
    """The names that a file's imports and the project's declarations define. Keys are `name`, `name()` and `<name>`,
    for a variable, a function and a type."""

    def __init__(self, package: str, declared: Declarations, usual: Mapping[str, str], text: str) -> None:
        """Make the names of a file in `package`. `usual`: types that every file imports without saying so → their
        packages."""
        self._acronyms = acronyms(text, colons=True)
        self.package = package
        self.declared = declared
        self.usual = usual
        self.wildcards: list[str] = []
        self.roots = {"java", "javax", "kotlin", "scala", package.partition(".")[0]}
        """The first parts of package names that the file knows, such as `java`."""

    def is_type(self, name: str) -> bool:
        """Return whether a name that stands alone is that of a type, by convention or by what the file shows."""
        return is_type_name(name) or name in self._acronyms

    def imported(self, path: str, name: str) -> dict[str, Origin]:
        """Return the names that `import path` defines, under `name`, with their origins; see the class."""
        package = package_part(path.rpartition(".")[0])
        value = Origin(True, package, "class" if self.is_type(name) else "")
        return {name: value, f"{name}()": value, f"<{name}>": Origin(True, package, "class")}

    def find(self, key: str, scope: Scope) -> Origin:
        """Return the origin of `name`, `name()` or `<name>`; UNKNOWN if nothing defines it."""
        origin = scope.find(key)
        if origin is not UNKNOWN:
            return origin
        name = key.strip("<>()")
        for package in (self.package, *self.wildcards):
            if name in self.declared.get(package, ()):
                return Origin(True, package, "class" if is_type_name(name) else "")
        usual = self.usual.get(name)
        return Origin(True, usual, "class") if usual else UNKNOWN
