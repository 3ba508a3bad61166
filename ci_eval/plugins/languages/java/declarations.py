"""The declarations and imports of a Java file, and the origins of names known from the text of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import Origin
from ci_eval.core.grammar.syntax import Node, SourceReader
from ci_eval.core.import_syntax import FlatModules, Import, ImportSyntax, keep_shared_names
from ci_eval.plugins.languages.jvm import Names, package_part, read_package

LANG = frozenset(
    "AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException "
    "AssertionError AutoCloseable Boolean BootstrapMethodError Byte CharSequence Character Class ClassCastException "
    "ClassCircularityError ClassFormatError ClassLoader ClassNotFoundException ClassValue "
    "CloneNotSupportedException Cloneable Comparable Deprecated Double Enum EnumConstantNotPresentException Error "
    "Exception ExceptionInInitializerError Float FunctionalInterface IO IllegalAccessError IllegalAccessException "
    "IllegalArgumentException IllegalCallerException IllegalMonitorStateException IllegalStateException "
    "IllegalThreadStateException IncompatibleClassChangeError IndexOutOfBoundsException InheritableThreadLocal "
    "InstantiationError InstantiationException Integer InternalError InterruptedException Iterable "
    "LayerInstantiationException LinkageError Long MatchException Math Module ModuleLayer "
    "NegativeArraySizeException NoClassDefFoundError NoSuchFieldError NoSuchFieldException NoSuchMethodError "
    "NoSuchMethodException NullPointerException Number NumberFormatException Object OutOfMemoryError Override "
    "Package Process ProcessBuilder ProcessHandle Readable Record ReflectiveOperationException Runnable Runtime "
    "RuntimeException RuntimePermission SafeVarargs ScopedValue SecurityException SecurityManager Short "
    "StackOverflowError StackTraceElement StackWalker StrictMath String StringBuffer StringBuilder "
    "StringIndexOutOfBoundsException SuppressWarnings System Thread ThreadDeath ThreadGroup ThreadLocal Throwable "
    "TypeNotPresentException UnknownError UnsatisfiedLinkError UnsupportedClassVersionError "
    "UnsupportedOperationException VerifyError VirtualMachineError Void WrongThreadException".split()
)
"""The types in java.lang of Java 25, which every file imports implicitly."""
_USUAL = dict.fromkeys(LANG, "java.lang")

# The number of modifiers is limited: a hostile file of nothing else would take very long to match.
_TOP = re.compile(r"^(?:[a-z@][\w-]*\s+){0,20}(?:class|interface|@interface|enum|record)\s+(\w+)", re.MULTILINE)
TYPES = frozenset(
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration".split()
)
_INTERFACES = frozenset(["interface_body", "annotation_type_body"])


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    return read_package(text, path), frozenset(_TOP.findall(text))


class JavaNames(SourceReader, Names):
    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        SourceReader.__init__(self, source)
        Names.__init__(self, package, declared, _USUAL, source.decode(), colons=False)
        self.roots -= {"kotlin", "scala"} - {package.partition(".")[0]}

    def top_level_names(self, root: Node) -> dict[str, Origin]:
        names: dict[str, Origin] = {}
        for child in root.children:
            if child.type == "import_declaration":
                names.update(self._imported_names(child))
            elif child.type in TYPES and (name := child.child_by_field_name("name")):
                names[f"<{self.text(name)}>"] = Origin(True, self.package, "class")
        return names

    def _imported_names(self, node: Node) -> Iterator[tuple[str, Origin]]:
        kinds = [child.type for child in node.children]
        path = next((self.text(child) for child in node.children if child.is_named), "")
        # Java allows whitespace around the dots of a name.
        path = re.sub(r"\s+", "", path)
        self.roots.add(path.partition(".")[0])
        static = "static" in kinds
        if "asterisk" in kinds:
            # Only the types of other files are known, so the members from `import static a.B.*` remain unknown.
            if not static:
                self.wildcards.append(path)
            return
        # `import static` may import a field, a method or a type.
        package, _, name = path.rpartition(".")
        if static:
            package = package_part(package)
            yield name, Origin(True, package)
            yield f"{name}()", Origin(True, package)
        yield f"<{name}>", Origin(True, package_part(package), "class")

    def members(self, body: Sequence[Node], body_type: str) -> dict[str, Origin]:
        """Return the origins of the members of a type. They are known in the whole body."""
        origins: dict[str, Origin] = {}
        for child in body:
            kind = child.type
            # The members after an enum's constants are in a separate node.
            if kind == "enum_body_declarations":
                origins.update(self.members(child.children, "class_body"))
            elif kind == "enum_constant":
                self._add(origins, child, "{}", True)
            elif kind in TYPES:
                self._add(origins, child, "<{}>", True)
            elif kind in {"method_declaration", "annotation_type_element_declaration"}:
                self._add(origins, child, "{}()", self._is_static(child))
            elif kind in {"field_declaration", "constant_declaration"}:
                # Fields of an interface are static even without the modifier.
                static = body_type in _INTERFACES or self._is_static(child)
                for declarator in child.children:
                    if declarator.type == "variable_declarator":
                        self._add(origins, declarator, "{}", static)
        return origins

    def _add(self, origins: dict[str, Origin], node: Node, pattern: str, static: bool) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            holder = "class" if pattern == "<{}>" else ""
            origins[pattern.format(self.text(name))] = Origin(static, self.package, holder)

    def _is_static(self, node: Node) -> bool:
        heads = [first.children for first in node.children[:1] if first.type == "modifiers"]
        return any(child.type == "static" for head in heads for child in head)


_STATEMENT = re.compile(
    r"^import[ \t]+(?P<static>static[ \t]+)?(?P<module>\w+(?:\.\w+)*)\.(?P<name>\w+)[ \t]*;[^\n]*\n?", re.MULTILINE
)


def read(text: str) -> list[Import]:
    """Return the imports of single names. Static imports are not removable because engines do not add them."""
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
    return keep_shared_names(imports)


SYNTAX = ImportSyntax(read=read, modules=FlatModules)
