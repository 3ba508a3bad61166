"""The parts that Java, Kotlin and Scala share: packages, naming conventions, and checks of imports."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import ClassVar

from ci_eval.core.base.files import is_own, read_own
from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import REFERENCE, NodePlace, Walk
from ci_eval.core.import_syntax import Imports
from ci_eval.core.model import Kind

JVM_WORD = re.compile(r"`[^`\n]+`|[\w$]+")
_PACKAGE = re.compile(r"^[ \t]*package\s+([\w.`]+)", re.MULTILINE)


def read_package(text: str, path: str, *, nested: bool = False) -> str:
    """Return the package that a file declares, otherwise that of its folder. If `nested` is true, several clauses form
    one name, as in Scala."""
    clauses = _PACKAGE.findall(text)
    return ".".join(clauses if nested else clauses[:1]) if clauses else ".".join(PurePosixPath(path).parent.parts)


def is_type_name(name: str) -> bool:
    """Return whether a name is a type by convention: `Foo` and `T` are, `foo` and `FOO` are not."""
    return name[:1].isupper() and (len(name) == 1 or not name.isupper())


_ACRONYM = r"([A-Z][A-Z0-9]+)\b"
_ACRONYMS = (
    # A type is imported, declared or constructed. A static import of such a name is a constant.
    re.compile(rf"import\s+(?!static\b|kotlin\.math\b)(?:[a-z_]\w*\.)+{_ACRONYM}"),
    # Several patterns are faster than one with alternatives.
    *(re.compile(rf"{word}\s+{_ACRONYM}") for word in "new class interface object record trait type(?:alias)?".split()),
)
# Matches Java's `UUID id = …` and `UUID id)`; `_AFTER_COLON` matches types after a colon, but not Java's `a ? b : C`.
# The lookbehind is after the first letter: a search for a plain character first is ten times as fast.
_BEFORE_NAME = re.compile(r"([A-Z](?<![\w.].)[A-Z0-9]+)\b (?!(?:when|instanceof)\b)[a-z]\w*\s*[=;,)]")
_AFTER_COLON = re.compile(rf":(?:(?<=[\w)\]?]:)|(?<=[\w)\]?]\s:))\s*{_ACRONYM}")
_KNOWN_ACRONYMS = frozenset(["IO", "URI", "URL", "UUID"])


def acronyms(text: str, *, colons: bool) -> frozenset[str]:
    """Return the all-capital names, such as UUID, that are types in the text. By convention, other all-capital names
    are constants. `colons` is whether types follow colons."""
    patterns = (*_ACRONYMS, _AFTER_COLON if colons else _BEFORE_NAME)
    return _KNOWN_ACRONYMS.union(*(pattern.findall(text) for pattern in patterns))


def package_part(path: str) -> str:
    """Return the package of a qualified name: `java.util` for `java.util.Map.Entry`."""
    parts = path.split(".")
    first = next((i for i, part in enumerate(parts) if part[:1].isupper()), len(parts))
    return ".".join(parts[:first])


class Names:
    """The names that a file knows from its imports and the project's declarations. The key of a variable is `name`, of
    a function `name()`, and of a type `<name>`."""

    def __init__(
        self, package: str, declared: Declarations, usual: Mapping[str, str], text: str, *, colons: bool = True
    ) -> None:
        """`package` is the package of the file. `usual` maps types that need no import to their packages."""
        self._acronyms = acronyms(text, colons=colons)
        self.package = package
        self.declared = declared
        self.usual = usual
        self.wildcards: list[str] = []
        self.roots = {"java", "javax", "kotlin", "scala", package.partition(".")[0]}
        """The first parts of known packages, such as `java`."""

    def is_type(self, name: str) -> bool:
        """Return whether a name is a type, by convention or by the text of the file."""
        return is_type_name(name) or name in self._acronyms

    def imported(self, path: str, name: str) -> dict[str, Origin]:
        """Return the keys and origins that `import path` defines under `name`."""
        package = package_part(path.rpartition(".")[0])
        value = Origin(True, package, "class" if self.is_type(name) else "")
        return {name: value, f"{name}()": value, f"<{name}>": Origin(True, package, "class")}

    def find(self, key: str, scope: Scope) -> Origin:
        """Return the origin of a key, or UNKNOWN if nothing defines the name."""
        origin = scope.find(key)
        if origin is not UNKNOWN:
            return origin
        name = key.strip("<>()")
        for package in (self.package, *self.wildcards):
            if name in self.declared.get(package, ()):
                return Origin(True, package, "class" if is_type_name(name) else "")
        usual = self.usual.get(name)
        return Origin(True, usual, "class") if usual else UNKNOWN


LONGEST_PATH = 200
"""The maximum length in bytes of a path `a.b.C` that is looked up. Longer texts are chains of calls."""


class JvmWalk(Walk):
    """A walk over a language in which `Foo` in `Foo.bar` may be a type and `java.util` a package."""

    paths: ClassVar[frozenset[str]] = frozenset()
    """The node types that consist of a receiver, a dot and a member."""
    known: Names

    def variable(self, node: Node, name: str, place: NodePlace) -> None:
        """Emit a name that is not called and whose position does not make it a type."""
        raise NotImplementedError

    def receiver(self, node: Node, place: NodePlace) -> Origin:
        """Visit the name before a dot. Return the origin of the members after the dot."""
        name = self.text(node).strip("`")
        if place.scope.owner(name) is None and name in self.known.roots:
            # The start of a qualified name such as `java.util.Locale.ROOT`.
            self.emit(node, Kind.IMPORT, place, Origin(True, name))
            return Origin(None, name, "module")
        self.variable(node, name, place)
        origin = self.known.find(name, place.scope)
        if origin.holder == "class" or (place.scope.owner(name) is None and self.known.is_type(name)):
            return Origin(True, origin.package)
        return LOCAL

    def plain_member(self, node: Node, name: str, origin: Origin, place: NodePlace) -> None:
        """Emit the name after a dot if it is not called. `origin`: the origin of the members before the dot."""
        if origin.holder == "module":
            kind = Kind.TYPE_REFERENCE if self.known.is_type(name) else Kind.IMPORT
        else:
            kind = Kind.TYPE_REFERENCE if origin.static and is_type_name(name) else Kind.FIELD
        static = True if origin.holder == "module" else origin.static
        self.emit(node, kind, place, Origin(static, origin.package))

    def emit_qualified(self, parts: Sequence[Node], place: NodePlace, *, starts_with_type: bool = False) -> None:
        """Emit the parts of `java.util.Map.Entry`. `starts_with_type`: whether an unknown first name is a type."""
        path: list[str] = []
        for part in parts:
            name = self.text(part).strip("`")
            # By convention, a lower-case name is a package.
            if not path and (self.known.is_type(name) or (starts_with_type and name not in self.known.roots)):
                origin = self.known.find(f"<{name}>", place.scope)
                self.emit(part, Kind.TYPE_REFERENCE, place, origin)
                path = [origin.package or "", name]
            else:
                kind = Kind.TYPE_REFERENCE if self.known.is_type(name) else Kind.IMPORT
                package = package_part(".".join(path)) if path else name
                self.emit(part, kind, place, Origin(True, package or None))
                path.append(name)

    def import_path(self, parts: Sequence[Node], place: NodePlace) -> None:
        """Emit the parts of the path in an import."""
        path: list[str] = []
        for part in parts:
            package = package_part(".".join(path)) if path else self.text(part)
            self.emit(part, Kind.IMPORT, place, Origin(True, package))
            path.append(self.text(part))

    def define_type_parameters(self, node: Node, scope: Scope) -> None:
        """Define the names in `<T, U>` if the node is a list of type parameters."""
        for child in node.children if node.type == "type_parameters" else ():
            self.define(self.find_name(child) if child.type == "type_parameter" else None, scope, LOCAL_TYPE, "<{}>")

    def expression_before_dot(self, node: Node, place: NodePlace) -> Origin:
        """Visit the expression before a dot. Return the origin of the members after the dot."""
        if node.type in {"identifier", "simple_identifier"}:
            return self.receiver(node, place)
        self.push([node], REFERENCE, place)
        is_path = node.type in self.paths and node.end_byte - node.start_byte < LONGEST_PATH
        return self.origin_of_members(self.text(node) if is_path else "", place)

    def origin_of_members(self, path: str, place: NodePlace) -> Origin:
        """Return the origin of the members of the type or package `a.b.C`, or LOCAL for any other text."""
        first, _, tail = path.partition(".")
        if not tail or not path.replace(".", "").isidentifier() or place.scope.owner(first) is not None:
            return LOCAL
        last = path.rpartition(".")[2]
        if first in self.known.roots:
            return Origin(True, package_part(path)) if self.known.is_type(last) else Origin(None, path, "module")
        if self.known.is_type(first) and is_type_name(last):
            return Origin(True, self.known.find(f"<{first}>", place.scope).package)
        return LOCAL


IMPORT = re.compile(r"^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)", re.MULTILINE)
JDK = re.compile(
    r"(?:java|jdk|javax\.(?:accessibility|annotation\.processing|crypto|imageio|lang|management|naming|net|print|rmi|"
    r"script|security|sound|sql|swing|tools|transaction\.xa|xml)|org\.(?:w3c\.dom|xml\.sax|ietf\.jgss)|kotlin)\."
)
"""The packages of the JDK and of Kotlin's standard library."""


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a function that checks the imports of a file. A class exists if its package is declared in a file of the
    project or contained in a jar."""
    packages = set[str]()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".java", ".kt") and is_own(path, root):
            text = read_own(root, str(path.relative_to(root))).decode(errors="replace")
            packages.update(_PACKAGE.findall(text)[:1])
    for jar in environment.rglob("*.jar") if environment else ():
        with zipfile.ZipFile(jar) as archive:
            classes = [PurePosixPath(name) for name in archive.namelist() if name.endswith(".class")]
            packages.update(".".join(path.parent.parts) for path in classes)

    def there(_path: str, text: str) -> Iterator[tuple[str, bool]]:
        for name in IMPORT.findall(text):
            # Nested classes and static members have more than a package before their name, so try every prefix.
            prefixes = [name, *(".".join(name.split(".")[:count]) for count in range(name.count("."), 0, -1))]
            known = bool(JDK.match(name)) or any(prefix.rstrip(".") in packages for prefix in prefixes)
            yield ".".join(takewhile(lambda part: not part[:1].isupper(), name.rstrip(".").split("."))), known

    return there
