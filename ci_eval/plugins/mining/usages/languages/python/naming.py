"""The names of Python: the module of a path, the bindings of an import, and the spelling of classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.trees import field_text, node_text

ROOTS = ("src", "lib", "python")
"""Folders that packages lie in without being packages themselves."""


def qualify_module(path: str) -> str:
    # Recordings may have absolute paths, and those of Windows.
    parts = list(PurePosixPath(path.replace("\\", "/").lstrip("/")).with_suffix("").parts)
    while len(parts) > 1 and parts[0] in ROOTS:
        parts.pop(0)
    if len(parts) > 1 and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def modules(paths: Iterable[str]) -> frozenset[str]:
    """Return the modules of all files of a project, with the packages that they are in."""
    modules_and_packages = set()
    for path in paths:
        parts = qualify_module(path).split(".")
        modules_and_packages |= {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return frozenset(modules_and_packages)


def has_known_prefix(name: str, known: Collection[str]) -> bool:
    """Return whether the name or a beginning of it, cut at a dot, is known."""
    while name:
        if name in known:
            return True
        name = name.rpartition(".")[0]
    return False


def is_class_name(name: str) -> bool:
    """Return whether a name is spelled as classes are: capitalised, and not all capitals as constants are."""
    bare = name.lstrip("_")
    return bare[:1].isupper() and (not bare.isupper() or len(bare) == 1)


def import_bindings(source: bytes, node: Node, module: str, is_package: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield for each name that an import binds: the name, its meaning, and whether that is surely a module.

    `module` is the module that holds the statement.
    """
    if node.type == "import_statement":
        for child in node.children[1:]:
            full = node_text(source, child.child_by_field_name("name") or child)
            alias = field_text(source, child, "alias")
            if child.is_named and full:
                yield (alias, full, True) if alias else (full.partition(".")[0], full.partition(".")[0], True)
        return
    origin = node.child_by_field_name("module_name")
    if origin is None:
        return
    start = absolute(node_text(source, origin), module, is_package)
    for child in node.children:
        if child.type == "wildcard_import":
            yield "*", start, True
        elif child.start_byte >= origin.end_byte and child.type in {"dotted_name", "aliased_import", "identifier"}:
            name = node_text(source, child.child_by_field_name("name") or child)
            alias = field_text(source, child, "alias")
            yield alias or name, f"{start}.{name}".lstrip("."), False


def absolute(name: str, module: str, is_package: bool) -> str:
    """Return the qualified name of a module, which an import may name with dots in front."""
    name = name.replace(" ", "")
    bare = name.lstrip(".")
    if bare == name:
        return name
    parts = module.split(".")
    # In a package's own file, one dot means the package.
    up = len(name) - len(bare) - is_package
    base = parts[: len(parts) - up] if up else parts
    return ".".join([*base, *([bare] if bare else [])])
