"""The modules of Rust: where a file is among them, and what it declares and imports at its top."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import Origin
from ci_eval.core.grammar.syntax import Node, SourceReader, leaves

_PRIMITIVES = (
    "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize AsMut AsRef Box Clone Copy Default "
    "DoubleEndedIterator Drop Eq Err Extend ExactSizeIterator Fn FnMut FnOnce From FromIterator Into IntoIterator "
    "Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned ToString TryFrom "
    "TryInto Unpin Vec"
).split()
_MACROS = (
    "assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq debug_assert_ne drop "
    "env eprint eprintln file format format_args include include_bytes include_str line matches module_path option_env "
    "panic print println stringify thread_local todo unimplemented unreachable vec write writeln"
).split()
PRELUDE = {
    **dict.fromkeys(_PRIMITIVES, Origin(True, "std", "class")),
    **dict.fromkeys(_MACROS, Origin(True, "std")),
    **dict.fromkeys(("alloc", "core", "std"), Origin(True, "std", "module")),
}
"""The names that every file knows: types, traits, their variants, functions and macros."""

TYPES = frozenset("struct_item enum_item union_item trait_item type_item".split())
DECLARED = TYPES | frozenset("function_item function_signature_item const_item static_item mod_item".split())
"""The types of nodes that declare a name for the whole block around them."""

# rustfmt indents what is not at the top.
_TOP = re.compile(
    r"^(?:pub(?:\([^)\n]*\))? )?(?:(?:default|unsafe|async|const|extern(?: \"[^\"\n]*\")?) )*"
    r"(?:fn|struct|enum|union|trait|type|const|static(?: mut)?|mod|macro_rules!) (\w+)",
    re.MULTILINE,
)


def derive_package(path: str) -> str:
    """Return the full name of the module that a file is: its crate has the name of the folder around `src`, or is
    "crate" if that is the project's own."""
    parts = PurePosixPath(path).with_suffix("").parts
    crate = "crate"
    if "src" in parts:
        at = parts.index("src")
        crate = parts[at - 1].replace("-", "_") if at else crate
        parts = parts[at + 1 :]
    modules = parts[:-1] if parts[-1:] and parts[-1] in {"lib", "main", "mod"} else parts
    return "::".join((crate, *modules))


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    """Return the module, and what the file declares without indentation."""
    return derive_package(path), frozenset(_TOP.findall(text))


class TopLevel(SourceReader):
    """The names that are known in a file or block before it is read, and the members that it gives to types."""

    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        super().__init__(source)
        self._package = package
        self._declared = declared
        self.members: dict[str, set[str]] = {}
        """Type → its fields and methods, as far as the file has them."""

    def read(self, nodes: list[Node]) -> dict[str, Origin]:
        """Return the origins of what these nodes declare and import, and gather members."""
        names = {name: Origin(True, self._package) for name in self._declared.get(self._package, ())}
        for node in nodes:
            kind = node.type
            name = node.child_by_field_name("name")
            if kind == "use_declaration":
                for leaf, path, alias in imports(node):
                    if path is not None and leaf.type == "identifier":
                        text = self.text(leaf)
                        holder = "class" if text[:1].isupper() else "module" if text.islower() else ""
                        names[self.text(alias) if alias else text] = Origin(True, self.resolve(path), holder)
            elif kind == "impl_item":
                type_ = node.child_by_field_name("type")
                self._gather(head(self.text(type_)) if type_ else "", node.child_by_field_name("body"))
            elif kind in DECLARED and name:
                text = self.text(name)
                body = node.child_by_field_name("body")
                # What is in a module inside a file counts as the file's.
                holder = "class" if kind in TYPES else "" if kind != "mod_item" else "inner" if body else "module"
                names[text] = Origin(True, self._package, holder)
                if kind in TYPES:
                    self._gather(text, body)
            elif kind == "macro_definition" and name:
                names[self.text(name)] = Origin(True, self._package)
        return names

    def _gather(self, type_: str, body: Node | None) -> None:
        for member in body.children if body else ():
            if name := member.child_by_field_name("name"):
                self.members.setdefault(type_, set()).add(self.text(name))

    def resolve(self, path: tuple[Node, ...]) -> str:
        """Return the full name of the module that an import names."""
        written = [self.text(node) for node in path]
        here = self._package.split("::")
        if written[:1] == ["crate"]:
            return "::".join((here[0], *written[1:]))
        inside = written[:1] == ["self"]
        ups = 0
        while written[ups : ups + 1] == ["super"]:
            ups += 1
        if inside or ups:
            return "::".join((*here[: max(len(here) - ups, 1)], *written[ups or 1 :]))
        return "::".join(written)


def head(type_: str) -> str:
    """Return the name of a type without its path and its parameters."""
    return type_.partition("<")[0].rpartition("::")[2].strip()


def imports(declaration: Node) -> Iterator[tuple[Node, tuple[Node, ...] | None, Node | None]]:
    """Yield the leaves of an import in their order: the leaf, the leaves of the path before it (None if it is no part
    of a path), and what it is called here."""
    stack: list[tuple[Node, tuple[Node, ...], Node | None]] = [
        (child, (), None) for child in reversed(declaration.children)
    ]
    while stack:
        node, path, alias = stack.pop()
        children = node.children
        kind = node.type
        if kind == "use_as_clause":
            # `path as alias`; the alias itself is no token.
            stack += [(children[1], path, None), (children[0], path, children[-1])]
        elif kind in {"scoped_identifier", "scoped_use_list"}:
            *front, last = [child for child in children if child.type != "::"]
            inner = path + tuple(leaf for child in front for leaf in leaves(child) if leaf.type != "::")
            stack.append((last, inner, alias))
            stack += [(child, path, None) for child in front]
        elif kind in {"use_list", "use_wildcard"}:
            stack += [(child, path, None) for child in reversed(children)]
        else:
            yield node, path if kind in {"identifier", "self", "super", "crate"} else None, alias
