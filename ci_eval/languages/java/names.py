"""What a Java file's own text says about where its names come from: package, imports, declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ci_eval.contracts import Declarations
from ci_eval.grammar.jvm.names import acronyms, is_type_name, package_of, package_part
from ci_eval.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.grammar.syntax import Node

LANG = frozenset(
    "AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException "
    "AssertionError AutoCloseable Boolean Byte CharSequence Character Class ClassCastException ClassLoader "
    "ClassNotFoundException CloneNotSupportedException Cloneable Comparable Deprecated Double Enum Error Exception "
    "ExceptionInInitializerError Float FunctionalInterface IllegalAccessException IllegalArgumentException "
    "IllegalMonitorStateException IllegalStateException IndexOutOfBoundsException InheritableThreadLocal "
    "InstantiationException Integer InterruptedException Iterable LinkageError Long Math Module "
    "NegativeArraySizeException NoClassDefFoundError NoSuchFieldException NoSuchMethodException "
    "NullPointerException Number NumberFormatException Object OutOfMemoryError Override Package Process "
    "ProcessBuilder Record ReflectiveOperationException Runnable Runtime RuntimeException SafeVarargs "
    "SecurityException Short StackOverflowError StackTraceElement StackWalker StrictMath String StringBuffer "
    "StringBuilder StringIndexOutOfBoundsException SuppressWarnings System Thread ThreadDeath ThreadGroup "
    "ThreadLocal Throwable TypeNotPresentException UnsupportedOperationException VerifyError VirtualMachineError "
    "Void".split()
)
"""Types of java.lang, which every file imports."""

# At most so many modifiers: a file may be nothing but such words.
_TOP = re.compile(r"^(?:[a-z@][\w-]*\s+){0,20}(?:class|interface|@interface|enum|record)\s+(\w+)", re.MULTILINE)
_TYPES = frozenset(
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration".split()
)
_INTERFACES = frozenset(["interface_body", "annotation_type_body"])


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    """The package, and the types declared without indentation."""
    return package_of(text, path), frozenset(_TOP.findall(text))


class JavaScope(Scope):
    """A class, method or block; a class keeps its fields by name, methods as `name()`, types as `<name>`."""

    def method(self, name: str) -> Origin:
        return self.find(name + "()")

    def type_(self, name: str) -> Origin:
        return self.find(f"<{name}>")


class JavaNames:
    """Reads declarations and imports off the syntax tree of one file."""

    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        self._source = source
        self.package = package
        self._declared = declared
        self._acronyms = acronyms(source.decode(), colons=False)
        self._wildcards: list[str] = []
        self.roots = {"java", "javax", package.partition(".")[0]}
        """First parts of the packages that the file knows."""

    def text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode()

    def is_type(self, name: str) -> bool:
        """Return whether a name that stands alone is that of a type, by convention or by what the file shows."""
        return is_type_name(name) or name in self._acronyms

    def of_file(self, root: Node) -> dict[str, Origin]:
        """What imports bring and what types the file declares."""
        found: dict[str, Origin] = {}
        for child in root.children:
            if child.type == "import_declaration":
                found.update(self._imported(child))
            elif child.type in _TYPES and (name := child.child_by_field_name("name")):
                found[f"<{self.text(name)}>"] = Origin(True, self.package, "class")
        return found

    def _imported(self, node: Node) -> Iterator[tuple[str, Origin]]:
        kinds = [child.type for child in node.children]
        path = next((self.text(child) for child in node.children if child.is_named), "")
        path = re.sub(r"\s+", "", path)
        self.roots.add(path.partition(".")[0])
        static = "static" in kinds
        if "asterisk" in kinds:
            if not static:
                self._wildcards.append(path)
            return
        package, _, name = path.rpartition(".")
        if static:
            package = package_part(package)
            yield name, Origin(True, package)
            yield f"{name}()", Origin(True, package)
        yield f"<{name}>", Origin(True, package_part(package), "class")

    def type_origin(self, name: str, scope: Scope) -> Origin:
        """Where a type of that simple name comes from."""
        found = scope.find(f"<{name}>")
        if found is not UNKNOWN:
            return found
        if name in self._declared.get(self.package, ()):
            return Origin(True, self.package, "class")
        for package in self._wildcards:
            if name in self._declared.get(package, ()):
                return Origin(True, package, "class")
        return Origin(True, "java.lang", "class") if name in LANG else UNKNOWN

    def members(self, body: Sequence[Node], body_type: str) -> dict[str, Origin]:
        """What the body of a type declares: known in all of it, before it is read."""
        found: dict[str, Origin] = {}
        for child in body:
            kind = child.type
            if kind == "enum_body_declarations":
                found.update(self.members(child.children, "class_body"))
            elif kind == "enum_constant":
                self._add(found, child, "{}", True)
            elif kind in _TYPES:
                self._add(found, child, "<{}>", True)
            elif kind in {"method_declaration", "annotation_type_element_declaration"}:
                self._add(found, child, "{}()", self._is_static(child))
            elif kind in {"field_declaration", "constant_declaration"}:
                static = body_type in _INTERFACES or self._is_static(child)
                for declarator in child.children:
                    if declarator.type == "variable_declarator":
                        self._add(found, declarator, "{}", static)
        return found

    def _add(self, found: dict[str, Origin], node: Node, how: str, static: bool) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            holder = "class" if how == "<{}>" else ""
            found[how.format(self.text(name))] = Origin(static, self.package, holder)

    def _is_static(self, node: Node) -> bool:
        first = node.children[0] if node.child_count else None
        return bool(first and first.type == "modifiers" and any(child.type == "static" for child in first.children))
