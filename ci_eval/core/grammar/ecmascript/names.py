"""The origins of the names in a JavaScript or TypeScript file, as far as its own text says: modules, globals,
scopes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope

GLOBAL = "global"
"""The package of names that every file can use without an import."""
LOCAL = Origin(False)

NAME = re.compile(r"#?[\w$]+")
"""A pattern of what names look like."""

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


@dataclass
class This:
    """The object or class that `this` stands for in a class or function."""

    members: set[str] = field(default_factory=set)
    """The members that are declared, static ones included."""
    grows: bool = False
    """True if assigning `this.x` for the first time creates the member x."""


@dataclass
class EcmaScope(Scope):
    """A namespace: of a file, TypeScript namespace, class, function, type or block."""

    package: str = ""
    """The module that the scope is in."""
    this: This | None = None
    static: bool = False
    """True if `this` is a class rather than an instance."""
    plain: Origin = LOCAL
    """The origin of variables that are declared here."""
    created: set[str] = field(default_factory=set)
    """The members of these names that were created by assignment, as chains such as `a.b.c`."""

    def find(self, name: str) -> Origin:
        scope: Scope | None = self
        while scope is not None:
            origin = scope.names.get(name)
            if origin is not None:
                return origin
            scope = scope.parent
        return UNKNOWN

    def below(self, kind: str, this: This | None = None, *, static: bool = False) -> EcmaScope:
        """Return a new scope inside this one; it has the same `this` unless another is passed."""
        if this is None:
            return EcmaScope(kind, self, package=self.package, this=self.this, static=self.static)
        return EcmaScope(kind, self, package=self.package, this=this, static=static)

    def namespace(self, package: str) -> EcmaScope:
        """Return a new scope inside this one, for a TypeScript namespace: its names are members of the module
        `package`."""
        return EcmaScope("namespace", self, package=package, plain=Origin(True, package))

    def find_var_scope(self) -> EcmaScope:
        """Return the scope in which a `var` that stands here is known: that of the function or file."""
        scope = self
        while scope.kind == "block" and isinstance(scope.parent, EcmaScope):
            scope = scope.parent
        return scope


_SUFFIX = re.compile(r"\.d\.[cm]?ts$|\.[cm]?[jt]sx?$")


def derive_module(path: str) -> str:
    """Return the name of a file's module: `src/internal` for `src/internal/index.ts`, `index` for `index.js`."""
    return _SUFFIX.sub("", path).removesuffix("/index") or "index"


class Modules:
    """The modules that a file's import statements name."""

    def __init__(self, path: str, declared: Declarations) -> None:
        self._folder = dirname(path)
        self._declared = declared
        self.own: set[str] = set()
        """The modules that were named by a relative path."""

    def resolve(self, specifier: str) -> str | None:
        """Return the name of the module that an import means: `src/x` for `./x.js` in src/a.ts; None if the specifier
        is empty."""
        if not specifier.startswith(("./", "../")) and specifier not in {".", ".."}:
            return specifier or None
        path = normpath(join(self._folder, specifier))
        module = derive_module("" if path == "." else path)
        # A relative path into installed packages names no module of the project.
        if "node_modules" not in module:
            self.own.add(module)
        return module


def guess_holder(name: str) -> str:
    """Return "class" for an imported name that by convention is a class, such as `Foo`, else ""."""
    # By convention, names of capitals alone are constants.
    return "class" if name[:1].isupper() and not name.isupper() else ""


_TOP = re.compile(
    r"^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+|async[ \t]+)?"
    r"(?:function(?:[ \t]*\*[ \t]*|[ \t]+)|class[ \t]+|const[ \t]+enum[ \t]+"
    r"|(?:interface|type|enum|const|let|var|namespace)[ \t]+)([\w$]+)"
    r"|^(?:module\.)?exports\.([\w$]+)[ \t]*=",
    re.MULTILINE,
)


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    """Return the file's module, and the names it declares on lines without indentation."""
    return derive_module(path), frozenset(declared or exported for declared, exported in _TOP.findall(text))
