"""The names of Java: packages, imports, types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.trees import field_text, named_children, node_text

LANG = frozenset(
    "AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException "
    "AssertionError AutoCloseable Boolean Byte CharSequence Character Class ClassCastException ClassLoader "
    "ClassNotFoundException CloneNotSupportedException Cloneable Comparable Double Enum Error Exception "
    "ExceptionInInitializerError Float IllegalAccessError IllegalAccessException IllegalArgumentException "
    "IllegalMonitorStateException IllegalStateException IndexOutOfBoundsException InheritableThreadLocal "
    "InstantiationException Integer InternalError InterruptedException Iterable LinkageError Long Math Module "
    "NegativeArraySizeException NoClassDefFoundError NoSuchFieldException NoSuchMethodException "
    "NullPointerException Number NumberFormatException Object OutOfMemoryError Package Process ProcessBuilder "
    "ProcessHandle Readable Record ReflectiveOperationException Runnable Runtime RuntimeException SecurityException "
    "SecurityManager Short StackOverflowError StackTraceElement StackWalker StrictMath String StringBuffer "
    "StringBuilder StringIndexOutOfBoundsException System Thread ThreadGroup ThreadLocal Throwable "
    "TypeNotPresentException UnsupportedOperationException VirtualMachineError Void".split()
)
"""The classes of java.lang, which need no import; annotations aside."""
WIDELY = {
    "java.util": "AbstractCollection AbstractList AbstractMap AbstractSet ArrayDeque ArrayList Arrays BitSet Calendar "
    "Collection Collections Comparator Currency Date Deque EnumMap EnumSet Enumeration EventListener EventObject "
    "Formatter GregorianCalendar HashMap HashSet Hashtable IdentityHashMap Iterator LinkedHashMap LinkedHashSet "
    "LinkedList List ListIterator Locale Map NavigableMap NavigableSet NoSuchElementException Objects Observable "
    "Optional OptionalInt PriorityQueue Properties Queue Random ResourceBundle Scanner ServiceLoader Set SortedMap "
    "SortedSet Spliterator Stack StringJoiner StringTokenizer TimeZone Timer TimerTask TreeMap TreeSet UUID Vector "
    "WeakHashMap ConcurrentModificationException",
    "java.io": "BufferedInputStream BufferedOutputStream BufferedReader BufferedWriter ByteArrayInputStream "
    "ByteArrayOutputStream Closeable DataInput DataInputStream DataOutput DataOutputStream EOFException Externalizable "
    "File FileInputStream FileNotFoundException FileOutputStream FileReader FileWriter FilterInputStream "
    "FilterOutputStream IOException InputStream InputStreamReader ObjectInputStream ObjectOutputStream OutputStream "
    "OutputStreamWriter PrintStream PrintWriter PushbackInputStream RandomAccessFile Reader Serializable StringReader "
    "StringWriter UncheckedIOException Writer",
}
"""Types of the two packages that are mostly imported as a whole."""
OF_PACKAGE = {package: frozenset(names.split()) for package, names in WIDELY.items()}
SOURCES = {"java", "src", "sources", "source"}
"""Folders that the folders of packages lie in."""


@dataclass(frozen=True, kw_only=True)
class Names:
    package: str = ""
    imports: dict[str, str] = field(default_factory=dict)
    """Name → fully qualified."""
    wholly: tuple[str, ...] = ()
    """Packages of which all is imported."""
    declared: dict[str, str] = field(default_factory=dict)
    """Types of this file: name → fully qualified."""
    own: frozenset[str] = frozenset()

    def find(self, name: str) -> str:
        """Return the fully qualified name of a type, or an empty string if it is ambiguous."""
        first, _, inner = name.partition(".")
        if not first[:1].isupper():
            return name if inner else ""
        full_name = self._simple(first)
        return f"{full_name}.{inner}" if inner and full_name else full_name

    def _simple(self, name: str) -> str:
        here = f"{self.package}.{name}" if self.package else name
        for known in (self.declared.get(name), self.imports.get(name), here if here in self.own else None):
            if known:
                return known
        if full_name := next((f"{package}.{name}" for package in self.wholly if f"{package}.{name}" in self.own), ""):
            return full_name
        if name in LANG:
            return f"java.lang.{name}"
        if full_name := next(
            (f"{package}.{name}" for package in self.wholly if name in OF_PACKAGE.get(package, ())), ""
        ):
            return full_name
        others = [package for package in self.wholly if package not in OF_PACKAGE]
        return f"{others[0]}.{name}" if len(others) == 1 else "" if others else here

    def is_own(self, type_: str) -> bool:
        """Return whether a type is one of the project's: of its files, or of the same package."""
        if split_package(type_) == self.package:
            return True
        while type_:
            if type_ in self.own:
                return True
            type_ = type_.rpartition(".")[0]
        return False


def read_names(source: bytes, root: Node, own: frozenset[str]) -> Names:
    package, imports, wholly = "", {}, []
    for node in named_children(root):
        path = next((child for child in named_children(node) if "identifier" in child.type), None)
        name = node_text(source, path)
        if node.type == "package_declaration":
            package = name
        # Static imports mostly bring members, not types.
        elif node.type == "import_declaration" and not any(child.type == "static" for child in node.children):
            if any(child.type == "asterisk" for child in node.children):
                wholly.append(name)
            else:
                imports[name.rpartition(".")[2]] = name
    return Names(
        package=package,
        imports=imports,
        wholly=tuple(wholly),
        declared=dict(_declarations(source, root, package)),
        own=own,
    )


TYPES = {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
TYPES |= {"annotation_type_declaration"}


def _declarations(source: bytes, root: Node, package: str) -> Iterator[tuple[str, str]]:
    stack = [(child, package) for child in named_children(root)]
    while stack:
        node, outer = stack.pop()
        if node.type in TYPES:
            name = field_text(source, node, "name")
            outer = f"{outer}.{name}" if outer else name
            yield name, outer
            node_body = node.child_by_field_name("body")
            stack += [(child, outer) for child in named_children(node_body)]
        elif node.type in {"enum_body_declarations", "ERROR"}:
            stack += [(child, outer) for child in named_children(node)]


def split_package(type_: str) -> str:
    """Return the package of a type: its name up to the first part that is capitalised."""
    parts = type_.split(".")
    count = next((number for number, part in enumerate(parts) if part[:1].isupper()), len(parts))
    return ".".join(parts[:count])


def project_types(paths: Iterable[str]) -> frozenset[str]:
    """Return the types that the files of a project are named for."""
    types = set()
    for path in paths:
        parts = list(PurePosixPath(path).with_suffix("").parts)
        roots = [number for number, part in enumerate(parts[:-1]) if part in SOURCES]
        types.add(".".join(parts[roots[-1] + 1 :] if roots else parts))
    return frozenset(types)
