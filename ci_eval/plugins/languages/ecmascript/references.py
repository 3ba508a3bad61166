"""The references in JavaScript and TypeScript files: their origins and kinds."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from typing import ClassVar, cast

import msgspec

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import LOCAL, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, handle_nodes
from ci_eval.core.model import Kind, Location

GLOBAL = "global"
"""The package of names that need no import."""

NAME = re.compile(r"#?[\w$]+")

_CLASSES = (
    "Object Function Array Boolean Symbol Number BigInt String RegExp Date Promise Map Set WeakMap WeakSet "
    "WeakRef FinalizationRegistry Proxy Error AggregateError EvalError RangeError ReferenceError SyntaxError "
    "TypeError URIError ArrayBuffer SharedArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray "
    "Int16Array Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array BigUint64Array "
    "Iterator Buffer URL URLSearchParams TextEncoder TextDecoder AbortController AbortSignal Event EventTarget "
    "CustomEvent MessageEvent ErrorEvent CloseEvent UIEvent MouseEvent KeyboardEvent PointerEvent TouchEvent "
    "WheelEvent FocusEvent InputEvent DragEvent ProgressEvent Blob File FileList FileReader FormData Headers "
    "Request Response ReadableStream WritableStream TransformStream WebSocket EventSource XMLHttpRequest Worker "
    "MessageChannel MessagePort BroadcastChannel Node NodeList Element HTMLElement HTMLInputElement "
    "HTMLButtonElement HTMLDivElement HTMLAnchorElement HTMLFormElement HTMLImageElement HTMLCanvasElement "
    "SVGElement Document DocumentFragment ShadowRoot Window Navigator Location History Storage Image Audio "
    "Option DOMParser DOMException DOMRect MutationObserver IntersectionObserver ResizeObserver "
    "PerformanceObserver Notification"
)
_TYPES = (
    "Partial Required Readonly Record Pick Omit Exclude Extract NonNullable Parameters ConstructorParameters "
    "ReturnType InstanceType ThisParameterType OmitThisParameter ThisType Awaited NoInfer Uppercase Lowercase "
    "Capitalize Uncapitalize PropertyKey PropertyDescriptor PropertyDescriptorMap ArrayLike ReadonlyArray "
    "ReadonlyMap ReadonlySet PromiseLike PromiseConstructor PromiseConstructorLike Iterable IterableIterator "
    "IteratorResult AsyncIterable AsyncIterator AsyncIterableIterator Generator GeneratorFunction "
    "AsyncGenerator AsyncGeneratorFunction TemplateStringsArray RegExpMatchArray RegExpExecArray ErrorOptions "
    "RequestInit RequestInfo BodyInit HeadersInit EventListener EventListenerOrEventListenerObject "
    "AddEventListenerOptions BlobPart CallableFunction NewableFunction"
)
_NAMESPACES = "Math JSON Reflect Atomics Intl WebAssembly console NodeJS JSX"
_INSTANCES = "document navigator location history screen localStorage sessionStorage performance crypto process module"
_PLAIN = (
    "undefined NaN Infinity globalThis window self global eval parseInt parseFloat isNaN isFinite encodeURI "
    "decodeURI encodeURIComponent decodeURIComponent escape unescape setTimeout clearTimeout setInterval "
    "clearInterval setImmediate clearImmediate queueMicrotask structuredClone requestAnimationFrame "
    "cancelAnimationFrame fetch alert confirm prompt atob btoa addEventListener removeEventListener "
    "getComputedStyle matchMedia require __dirname __filename"
)
GLOBALS = {
    **{name: Origin(True, GLOBAL, "class") for name in _CLASSES.split()},
    **{name: Origin(True, GLOBAL, "module") for name in _NAMESPACES.split()},
    **{name: Origin(True, GLOBAL, "instance") for name in _INSTANCES.split()},
    **{name: Origin(True, GLOBAL) for name in f"{_PLAIN} {_TYPES}".split()},
    "exports": Origin(True, GLOBAL, "exports"),
    "arguments": LOCAL,
}


class This(msgspec.Struct):
    """The object or class to which `this` refers in a class or function."""

    members: set[str] = msgspec.field(default_factory=set)
    """The declared members, including static ones."""
    grows: bool = False
    """True if the first assignment to `this.x` creates the member x."""


class EcmaScope(Scope):
    """The scope of a file, TypeScript namespace, class, function, type or block."""

    package: str = ""
    """The module that contains the scope."""
    this: This | None = None
    static: bool = False
    """True if `this` is a class rather than an instance."""
    plain: Origin = LOCAL
    """The origin of variables declared in the scope."""
    created: set[str] = msgspec.field(default_factory=set)
    """The members created by assignment, as chains such as `a.b.c`."""

    def below(self, kind: str, this: This | None = None) -> EcmaScope:
        """Return a new scope inside this one. `this` is inherited unless it is passed."""
        static = this is None and self.static
        return EcmaScope(kind, self, package=self.package, this=this or self.this, static=static)

    def find_var_scope(self) -> EcmaScope:
        """Return the scope in which a `var` is declared: the enclosing function or file."""
        scope = self
        while scope.kind == "block" and isinstance(scope.parent, EcmaScope):
            scope = scope.parent
        return scope


_SUFFIX = re.compile(r"\.d\.[cm]?ts$|\.[cm]?[jt]sx?$")


def derive_module(path: str) -> str:
    """Return the module name of a file: `src/internal` for `src/internal/index.ts`, `index` for `index.js`."""
    return _SUFFIX.sub("", path).removesuffix("/index") or "index"


class Modules:
    def __init__(self, path: str, declared: Declarations) -> None:
        self._folder = dirname(path)
        self._declared = declared
        self.own: set[str] = set()
        """The modules that the file imports by a relative path."""

    def resolve(self, specifier: str) -> str | None:
        """Return the module name for the specifier of an import: `src/x` for `./x.js` in src/a.ts; None for an
        empty specifier."""
        if not specifier.startswith(("./", "../")) and specifier not in {".", ".."}:
            return specifier or None
        path = normpath(join(self._folder, specifier))
        module = derive_module("" if path == "." else path)
        # A relative path into `node_modules` does not belong to the project.
        if "node_modules" not in module:
            self.own.add(module)
        return module


def guess_holder(name: str) -> str:
    """Return "class" if an imported name is a class by convention, such as `Foo`, else ""."""
    # By convention, names in all capitals are constants.
    return "class" if name[:1].isupper() and not name.isupper() else ""


_TOP = re.compile(
    r"^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+|async[ \t]+)?"
    r"(?:function(?:[ \t]*\*[ \t]*|[ \t]+)|class[ \t]+|const[ \t]+enum[ \t]+"
    r"|(?:interface|type|enum|const|let|var|namespace)[ \t]+)([\w$]+)"
    r"|^(?:module\.)?exports\.([\w$]+)[ \t]*=",
    re.MULTILINE,
)


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    return derive_module(path), frozenset(declared or exported for declared, exported in _TOP.findall(text))


KEYWORDS = read_keywords("javascript") | {"false", "null", "super", "this", "true"}
ASSIGNED = "assigned"
"""The role of the left side of `=`."""
FROM = "from "
"""The prefix of the role of a pattern in `const {a} = require("m")`. The name of the module follows."""

_MEMBER_KINDS = {CALLED: Kind.METHOD_CALL, TYPE: Kind.TYPE_REFERENCE}
_MEMBER_NAMES = frozenset(["property_identifier", "private_property_identifier", "identifier", "type_identifier"])
_LITERALS = frozenset(["string", "template_string", "array", "regex", "number", "object"])


def ecma_scope(place: NodePlace) -> EcmaScope:
    """Return the scope of `place`. In these languages, all scopes are EcmaScopes."""
    return cast(EcmaScope, place.scope)


class EcmaWalk(Walk):
    names = frozenset(
        "identifier shorthand_property_identifier shorthand_property_identifier_pattern statement_identifier "
        "private_property_identifier type_identifier undefined".split()
    )
    keywords = KEYWORDS
    ignored = "jsx_namespace_name string"
    unnamed = "labeled_statement"
    grows: ClassVar[frozenset[str]] = frozenset()
    """The holders to which an assignment can add members, as in `exports.x = …`."""

    roles = {
        REFERENCE: "subscript_expression computed_property_name type_query ternary_expression",
    }
    transparent = (
        "parenthesized_expression instantiation_expression formal_parameters object_pattern array_pattern rest_pattern"
    )

    def __init__(self, source: bytes, path: str, declared: Declarations) -> None:
        super().__init__(source, derive_module(path), declared)
        self.modules = Modules(path, declared)
        self._created: set[str] = set()
        """Like `EcmaScope.created`, for chains whose first name is not defined in any scope."""

    def outermost(self, _root: Node) -> Scope:
        universe = EcmaScope("universe", names=GLOBALS)
        return EcmaScope("file", universe, package=self.package, plain=Origin(True, self.package))

    def _location(self, package: str) -> Location:
        return "project" if package in self.modules.own else super()._location(package)

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        scope, kind, name = ecma_scope(place), node.type, self.text(node)
        if role == BOUND:
            scope.names[name] = scope.plain
        elif role.startswith(FROM):
            scope.names[name] = Origin(True, role.removeprefix(FROM), guess_holder(name))
        elif kind == "statement_identifier":
            self.emit(node, Kind.VARIABLE, place, LOCAL, name)
        elif kind == "private_property_identifier":
            self.emit(node, Kind.FIELD, place, scope.find(name), name)
        elif kind == "type_identifier" or role == TYPE:
            self.type_name(node, name, place)
        elif role == CALLED:
            self.emit(node, Kind.METHOD_CALL, place, scope.find(name), name)
        else:
            origin = scope.find(name)
            self.emit(node, Kind.FIELD if origin.holder == "field" else Kind.VARIABLE, place, origin, name)

    def type_name(self, node: Node, name: str, place: NodePlace) -> None:
        self.emit(node, Kind.TYPE_REFERENCE, place, place.scope.find(name), name)

    @handle_nodes("member_expression", "nested_identifier", "nested_type_identifier")
    def member(self, node: Node, role: str, place: NodePlace) -> None:
        children = node.children
        receiver, member = children[0], children[-1]
        if len(children) < 2 or member.type not in _MEMBER_NAMES:
            self.push(children, REFERENCE, place)
        else:
            name = self.text(member)
            if not (role == ASSIGNED and self._creates_member(receiver, name, ecma_scope(place))):
                origin = self._member_origin(receiver, name, ecma_scope(place))
                kind = _MEMBER_KINDS.get(TYPE if member.type == "type_identifier" else role, Kind.FIELD)
                self.emit(member, kind, place, origin, name)
            if receiver.type == "identifier":
                known = place.scope.find(self.text(receiver))
                kind = Kind.TYPE_REFERENCE if known.holder == "class" else Kind.VARIABLE
                self.emit(receiver, Kind.FIELD if known.holder == "field" else kind, place, known)
            else:
                self.push([receiver], REFERENCE, place)

    def _member_origin(self, receiver: Node, name: str, scope: EcmaScope) -> Origin:
        kind = receiver.type
        if name[:1] == "#":
            return scope.find(name)
        if kind == "identifier":
            origin = scope.find(self.text(receiver))
            if origin.holder in {"class", "module", "exports"}:
                return Origin(True, self.package if origin.holder == "exports" else origin.package)
            return Origin(False, origin.package) if origin.holder == "instance" else UNKNOWN
        if kind in {"this", "super"}:
            declared = kind == "this" and scope.this and name in scope.this.members
            return Origin(scope.static, scope.package if declared else None)
        if kind in _LITERALS:
            return Origin(False, GLOBAL)
        if kind == "new_expression":
            parts = receiver.children
            class_ = scope.find(self.text(parts[1])) if len(parts) > 1 and parts[1].type == "identifier" else UNKNOWN
            return Origin(False, class_.package)
        if kind == "call_expression" and (package := self._required_module(receiver)):
            return Origin(True, package)
        # The receiver may be `module.exports` or `X.prototype`. Decoding and looking up long chains is slow.
        begin, end = receiver.start_byte, receiver.end_byte
        if kind == "member_expression" and self.source[begin : min(end, begin + 100)] == b"module.exports":
            return Origin(True, self.package)
        if kind == "member_expression" and self.source.endswith(b".prototype", begin, end) and end - begin < 100:
            return Origin(False, scope.find(self.source[begin : end - 10].decode()).package)
        return UNKNOWN

    def _required_module(self, call: Node) -> str | None:
        function, *siblings = call.children
        if function.type != "identifier" or self.text(function) != "require" or not siblings:
            return None
        strings = [child for child in siblings[-1].children if child.type == "string"]
        return self.modules.resolve(self.text(strings[0])[1:-1]) if strings else None

    def _creates_member(self, receiver: Node, name: str, scope: EcmaScope) -> bool:
        """Return whether an assignment to `receiver.name` creates the member, and record the member as created."""
        if receiver.type == "this":
            if scope.this is None or not scope.this.grows or name in scope.this.members:
                return False
            scope.this.members.add(name)
            return True
        if receiver.type not in {"identifier", "member_expression"}:
            return False
        chain = self.text(receiver)
        head = "exports" if chain == "module.exports" else chain.removesuffix(".prototype")
        owner = cast("EcmaScope | None", scope.owner(head))
        holder = owner.names[head].holder if owner else ""
        member = f"{chain}.{name}"
        created = owner.created if owner else self._created
        if holder not in self.grows or member in created:
            return False
        created.add(member)
        return True

    @handle_nodes("call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        function, *siblings = node.children
        for child in reversed(siblings):
            if child.type == "arguments":
                self.push(child.children, REFERENCE, NodePlace(place.scope, True))
            elif child.child_count:
                self._stack.append((child, REFERENCE, place))
        self.push([function], CALLED, place)

    @handle_nodes("new_expression")
    def new(self, node: Node, _role: str, place: NodePlace) -> None:
        for child in reversed(node.children):
            if child.type == "arguments":
                self.push(child.children, REFERENCE, NodePlace(place.scope, True))
            else:
                self.push([child], TYPE, place)

    @handle_nodes("binary_expression")
    def binary(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit an expression. The operand after `instanceof` is a class."""
        children = node.children
        if len(children) > 2 and children[-2].type == "instanceof":
            self.push(children[-1:], TYPE, place)
            children = children[:-1]
        self.push(children, REFERENCE, place)

    @handle_nodes("non_null_expression")
    def non_null(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit `x!` with the role of x."""
        # In `a || !f!(x)`, the grammar parses `a || !f!` as the called function.
        operand = node.children[0]
        before: list[Node] = []
        while operand.type in {"unary_expression", "binary_expression"}:
            before += operand.children[:-1]
            operand = operand.children[-1]
        self.push([operand], role, place)
        self.push(before, REFERENCE, place)

    @handle_nodes("jsx_opening_element", "jsx_self_closing_element", "jsx_closing_element")
    def tag(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a JSX tag. Skip the name if it is an HTML element."""
        # The names of components begin with a capital letter or contain a dot.
        children = node.children
        if [child.type for child in children[1:2]] == ["identifier"] and self.text(children[1])[:1].islower():
            del children[1]
        self.push(children, REFERENCE, place)

    @handle_nodes("jsx_attribute")
    def attribute(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *value = node.children
        # Attributes such as `data-x` are not declared by any component.
        if name.type == "property_identifier" and not self.source.startswith(b"data-", name.start_byte):
            self.emit(name, Kind.ARGUMENT_NAME, place)
        self.push(value, REFERENCE, place)
