"""The definitions in a Ruby file, and the origins of its names: modules, classes, methods, constants, scopes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import Origin, Scope
from ci_eval.core.grammar.syntax import Node, SourceReader

KERNEL = frozenset(
    "Array Complex Float Hash Integer Rational String abort at_exit autoload binding block_given? caller catch eval "
    "exec exit format gets lambda loop p print printf proc putc puts raise rand require require_relative sleep spawn "
    "sprintf system throw trap warn __dir__ __method__".split()
)
MODULE = frozenset(
    "alias_method attr_accessor attr_reader attr_writer class_eval const_get const_set define_method include "
    "instance_method module_function prepend private private_class_method private_constant protected public "
    "public_class_method public_constant remove_method undef_method".split()
)
"""The methods of Module that class bodies call."""
LITERALS = {
    "string": "String",
    "array": "Array",
    "hash": "Hash",
    "integer": "Integer",
    "float": "Float",
    "regex": "Regexp",
    "simple_symbol": "Symbol",
    "string_array": "Array",
    "symbol_array": "Array",
}
TYPES = frozenset(
    "CSV ERB FTP GC HMAC HTTP HTTPS IMAP IO JSON MD5 PTY RSA SHA1 SHA256 SHA512 SMTP SSL URI YAML".split()
)
"""The modules and classes of the standard library that are named like constants."""
GLOBALS = frozenset(
    "$stdin $stdout $stderr $PROGRAM_NAME $LOAD_PATH $LOADED_FEATURES $VERBOSE $DEBUG $FILENAME $KCODE".split()
)
LONGEST = 1000
"""The maximum length of a full name that is looked up. A longer text is not a name and would take long."""
_DEFINED = re.compile(r"^([ \t]*)(?:(class|module)[ \t]+(?!<<)([A-Z][\w:]*)|([A-Z]\w*)[ \t]*=[^=~>])", re.MULTILINE)


def declare(text: str, _path: str) -> tuple[str, frozenset[str]]:
    """Return the modules `A::B` around all other code, and the constants, classes and modules directly inside them."""
    definitions = [(len(m[1].expandtabs(8)), m[2], m[3] or m[4]) for m in _DEFINED.finditer(text)]
    # `least[i]` becomes the smallest indentation among the i-th definition and all later ones.
    least = [indent for indent, _kind, _name in definitions]
    for i in range(len(least) - 2, -1, -1):
        least[i] = min(least[i], least[i + 1])
    wrap = 0
    while (
        wrap < len(definitions)
        and definitions[wrap][1] == "module"
        # A later definition with the same indentation is outside of the module.
        and least[wrap + 1 : wrap + 2] != [definitions[wrap][0]]
    ):
        if least[wrap] < definitions[wrap][0]:
            break
        wrap += 1
    package = "::".join(name for _indent, _kind, name in definitions[:wrap])
    outermost = least[wrap] if wrap < len(least) else 0
    return package, frozenset(name for indent, _kind, name in definitions[wrap:] if indent == outermost)


class Space(msgspec.Struct):
    """A module or class, or the top level of the file, with the definitions in it."""

    name: str
    """The full name, or "" for the top level."""
    nesting: tuple[str, ...]
    """The full names of the modules in which Ruby looks up constants, the innermost first."""
    constants: dict[str, str] = msgspec.field(default_factory=dict)
    """The name of a constant → "class" for a class or module, else ""."""
    methods: dict[tuple[str, bool], None] = msgspec.field(default_factory=dict)
    """The names of methods, each with whether it belongs to the module rather than to an instance."""
    variables: set[tuple[str, bool]] = msgspec.field(default_factory=set)
    """The `@x` and `@@x` assigned so far, each with whether it belongs to the module rather than to an instance."""


class RubyScope(Scope):
    """The local variables of a scope. Only blocks see the variables around them."""

    parent: RubyScope | None = None
    space: Space = msgspec.field(default_factory=lambda: Space("", ()))
    static: bool = False
    """True if `self` is the module itself."""
    takes_it: bool = False
    """True for a block without parameters, which has the implicit parameter `it`."""


class RubyNames(SourceReader):
    """The definitions of a file outside of its methods."""

    def __init__(self, source: bytes, declared: Declarations) -> None:
        super().__init__(source)
        self._declared = declared
        self.top = Space("", ())
        self.spaces = {"": self.top}

    def enter(self, name: str, around: Space) -> Space:
        """Return the module or class with that name inside `around`."""
        full = name[2:] if name.startswith("::") else "::".join(filter(None, [around.name, name]))
        if len(full) > LONGEST:
            return around
        # The number is limited because a hostile file may nest modules without end.
        nesting = (full, *around.nesting)[:20]
        space = self.spaces.get(full)
        if space is None:
            space = self.spaces[full] = Space(full, nesting)
            before, _, last = full.rpartition("::")
            if before in self.spaces:
                self.spaces[before].constants[last] = "class"
        # A module opened inside another one has the same content, but another nesting.
        return space if space.nesting == nesting else replace(space, nesting=nesting)

    def constant(self, name: str, space: Space) -> Origin:
        """Return the origin of an unqualified constant. Its `holder` is "class" for a known module or class."""
        for package in (*space.nesting, ""):
            holder = self.spaces[package].constants.get(name) if package in self.spaces else None
            full = f"{package}::{name}" if package else name
            if holder is None and (full in self._declared or name in self._declared.get(package, ())):
                holder = "class" if full in self._declared else ""
            if holder is not None:
                return Origin(True, package or None, holder)
        return Origin(True, None, "class" if name in TYPES else "")

    def method(self, name: str, space: Space, static: bool) -> Origin:
        """Return the origin of a method that is called without a receiver or on `self`."""
        if space.name and (name, static) in space.methods:
            return Origin(static, space.name or None)
        # Methods of the top level are known everywhere.
        if (name, False) in self.top.methods:
            return Origin(True)
        if name in KERNEL:
            return Origin(True, "Kernel")
        return Origin(False, "Module") if static and name in MODULE else Origin()

    def read(self, root: Node) -> None:
        """Collect the definitions outside of methods."""
        stack: list[tuple[Node, Space, bool]] = [(root, self.top, False)]
        while stack:
            node, space, static = stack.pop()
            kind = node.type
            if kind in {"class", "module"} and node.child_count:
                name = node.child_by_field_name("name")
                inner = self.enter(self.text(name), space) if name else space
                stack += [(child, inner, False) for child in reversed(node.children)]
            elif kind == "singleton_class":
                stack += [(child, space, True) for child in reversed(node.children)]
            elif kind in {"method", "singleton_method"}:
                self._define_method(node, space, static or kind == "singleton_method")
            elif kind == "assignment":
                if node.children[0].type == "constant":
                    space.constants.setdefault(self.text(node.children[0]), "")
            elif kind == "call":
                stack += [(child, space, static) for child in self._define_by_call(node.children, space, static)]
            elif kind in _CONTAINERS:
                after = False
                for child in node.children:
                    after |= child.type == "identifier" and self.text(child) == "module_function"
                    # After `module_function` without arguments, methods also belong to the module itself.
                    if after and child.type == "method":
                        self._define_method(child, space, True)
                stack += [(child, space, static) for child in reversed(node.children)]

    def _define_method(self, method: Node, space: Space, static: bool) -> None:
        name = method.child_by_field_name("name")
        if name:
            space.methods[self.text(name), static] = None

    def _define_by_call(self, children: Sequence[Node], space: Space, static: bool) -> list[Node]:
        """Define the methods in `attr_reader :a` or `alias_method :a, :b`. Return the arguments that may define more
        methods, as in `private def a…`."""
        if children[0].type != "identifier" or len(children) < 2 or children[1].type != "argument_list":
            return []
        name, arguments = self.text(children[0]), children[1].children
        if name in _DEFINE_ALL:
            defined = [child for child in arguments if child.type == "simple_symbol"]
            for symbol in defined[: 1 if name in _DEFINE_ONE else None]:
                space.methods[self.text(symbol)[1:], static] = None
        elif name == "module_function":
            for child in arguments:
                if child.type == "method":
                    self._define_method(child, space, True)
                elif child.type == "simple_symbol":
                    space.methods[self.text(child)[1:], True] = None
        return [child for child in arguments if child.type in {"method", "singleton_method", "call"}]


_DEFINE_ONE = frozenset(["alias_method", "define_method", "def_delegator"])
_DEFINE_ALL = _DEFINE_ONE | {"attr", "attr_reader", "attr_writer", "attr_accessor", "def_delegators"}
_CONTAINERS = frozenset("program body_statement begin if unless else elsif then if_modifier unless_modifier".split())
