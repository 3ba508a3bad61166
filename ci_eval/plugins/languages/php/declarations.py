"""The origins of names known from the text of a PHP file: namespaces, imports, classes and their members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base.files import below, read_own
from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.import_syntax import Imports

_NAMESPACE = re.compile(r"^(?:<\?php)?[ \t]*namespace[ \t]+([\w\\]+)\s*[;{]", re.MULTILINE)
_TOP = re.compile(
    r"^(?:(?:abstract|final|readonly)[ \t]+)*(?:class|interface|trait|enum|function|const)[ \t]+&?(\w+)", re.MULTILINE
)
PART = re.compile(rb"[\w\x80-\xff]+")
LONGEST = 1000
"""The maximum length of a qualified name that is looked up. A longer text is not a name and would take long."""


def declare(text: str, _path: str) -> tuple[str, frozenset[str]]:
    """Return the first namespace ("" for the global one) and the names declared without indentation."""
    namespace = _NAMESPACE.search(text)
    return namespace[1] if namespace else "", frozenset(_TOP.findall(text))


class PhpClass(msgspec.Struct):
    """The members declared in the body of a class, interface, trait or enum."""

    namespace: str | None
    members: dict[str, Origin] = msgspec.field(default_factory=dict)
    """The origins of members. Keys are `$x` for properties, `x` for constants, and `x()` in lower case for methods."""

    def member(self, name: str, otherwise: bool | None) -> Origin:
        """Return the origin of a member. `otherwise` is whether a member that the class does not declare is static."""
        return self.members.get(name) or Origin(otherwise)


class PhpScope(Scope):
    """The variables of a file, function or closure. Only arrow functions see the variables around them."""

    parent: PhpScope | None = None
    class_: PhpClass | None = None


class PhpNames:
    """The current namespace and its imports."""

    def __init__(self, text: str, declared: Declarations) -> None:
        self.namespace, self._own = declare(text, "")
        self._declared = declared
        self.enter(self.namespace)

    def enter(self, namespace: str) -> None:
        """Start a namespace that has no imports yet."""
        self.namespace = namespace
        self._known = self._own | self._declared.get(namespace, frozenset())
        self._imported: dict[str, dict[str, str]] = {"class": {}, "function": {}, "const": {}}
        self._origins: dict[tuple[str, str], Origin] = {}

    def import_(self, kind: str, name: str, alias: str) -> None:
        """Add the import `use function A\\b as c;`. `name` is the full name."""
        # Only names of constants are case-sensitive.
        self._imported[kind][alias if kind == "const" else alias.lower()] = name
        self._origins.clear()

    def find(self, kind: str, name: str) -> Origin:
        """Return the origin of a class, function or constant with an unqualified name."""
        origin = self._origins.get((kind, name))
        if origin is None:
            imported = self._imported[kind].get(name if kind == "const" else name.lower())
            # PHP falls back to the global namespace for functions and constants, but not for classes.
            own = self.namespace if kind == "class" or name in self._known else ""
            package = own if imported is None else imported.rpartition("\\")[0]
            origin = self._origins[kind, name] = Origin(True, package or None, "class")
        return origin

    def absolute(self, name: str) -> str:
        """Return the absolute name of a qualified name, without the leading backslash."""
        first, separator, tail = name.partition("\\")
        if not first:
            return tail
        if first.lower() == "namespace":
            return f"{self.namespace}\\{tail}".lstrip("\\")
        # The first part of a qualified name is a namespace or a class.
        start = self._imported["class"].get(first.lower()) if separator else None
        return (start or f"{self.namespace}\\{first}".lstrip("\\")) + separator + tail


def members(body: Sequence[Node], namespace: str, source: bytes) -> PhpClass:
    """Return the members that the body of a class declares. Methods may use members that are declared later."""
    class_ = PhpClass(namespace or None)
    for node in body:
        if node.type in _MEMBERS:
            children = node.children
            static = node.type in _STATIC or any(child.type == "static_modifier" for child in children)
            for name, is_static in _declared_names(node.type, children, static):
                text = source[name.start_byte : name.end_byte].decode()
                # Only names of methods are case-insensitive.
                key = f"{text.lower()}()" if name.type == "name" and node.type == "method_declaration" else text
                class_.members[key] = Origin(is_static, class_.namespace)
    return class_


_STATIC = frozenset(["const_declaration", "enum_case"])
_MEMBERS = _STATIC | {"property_declaration", "method_declaration"}
_ELEMENTS = frozenset(["property_element", "const_element"])


def _declared_names(kind: str, children: Sequence[Node], static: bool) -> Iterator[tuple[Node, bool]]:
    """Yield the names in a declaration, each with whether it is static. Constructor parameters may declare
    properties."""
    for child in children:
        if child.type in _ELEMENTS and child.child_count:
            yield child.children[0], static
        elif child.type == "name" and kind != "const_declaration":
            yield child, static
        elif child.type == "formal_parameters":
            for parameter in child.children:
                if parameter.type == "property_promotion_parameter":
                    yield from ((part, False) for part in parameter.children if part.type == "variable_name")


_USE = re.compile(
    r"^use[ \t]+(?:(?:function|const)[ \t]+)?\\?([\w\\]+)[ \t]*(?:;|,|as\b|\{([^{}]*)\})", re.MULTILINE | re.IGNORECASE
)
_MEMBER = re.compile(r"\s*(?:(?:function|const)\s+)?([\w\\]+)", re.IGNORECASE)


def imports(root: Path, _environment: Path | None) -> Imports:
    """Return a function that checks the imports of a file. A name exists if a file of the project (including `vendor`,
    which servers read) declares the name or its namespace. Names without a namespace are PHP's own."""
    namespaces, names = {""}, set[str]()
    for path in below(root, root, (".php",)):
        namespace, own = declare(read_own(root, path).decode(errors="replace"), path)
        parts = namespace.lower().split("\\")
        namespaces.update("\\".join(parts[:count]) for count in range(1, len(parts) + 1))
        names.update(f"{namespace}\\{name}".lower() for name in own)

    def there(_path: str, text: str) -> Iterator[tuple[str, bool]]:
        for first, group in _USE.findall(text):
            members = map(_MEMBER.match, group.split(",")) if group else ()
            for name in [f"{first}{member[1]}" for member in members if member] or [first]:
                known = "\\" not in name or name.lower() in names or name.lower() in namespaces
                yield "\\".join(name.split("\\")[:2]), known

    return there
