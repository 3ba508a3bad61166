"""The pairing of each test with the one function that it tests, or the reason why no function was found.

As in methods2test (Tufano et al., https://arxiv.org/abs/2009.05617), pairs are found by name, or else by called
functions. A test that fits several functions is not paired.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import PurePosixPath
from posixpath import dirname
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import field_text, lines_of, named_children

Kind = Literal["function", "method"]
Rule = Literal["exact", "prefix", "class", "call"]
"""Why a test is paired with a function. exact, prefix: the test's name is, or begins with, the function's name. class:
the test class has the function's name. call: the test calls the function."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A range of the normalised text, in bytes and in lines (1-based, both ends included)."""

    path: str
    begin: int
    end: int
    lines: tuple[int, int]


class Function(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    place: Place
    owner: str = ""
    """The class of a method. Empty for a function outside of classes."""
    scope: str = ""
    """The package or folder. Empty in languages in which it does not matter for pairing."""
    least: int = 0
    most: int | None = None
    """The limit of arguments, or None without a limit."""
    broken: bool = False

    @property
    def kind(self) -> Kind:
        return "method" if self.owner else "function"


class Call(msgspec.Struct, frozen=True):
    """A call. `receiver` is the expression before the name, or "" if the expression is long or missing."""

    name: str
    receiver: str = ""
    arguments: int | None = None
    """The number of arguments, or None if it is known only at run time."""

    def fits(self, function: Function) -> bool:
        last = self.receiver.rpartition(".")[2]
        # By convention, a receiver with an initial capital is a class, so this class must be the function's class.
        if self.name != function.name or (function.owner and last[:1].isupper() and last != function.owner):
            return False
        if self.arguments is None:
            return True
        return function.least <= self.arguments and (function.most is None or self.arguments <= function.most)


class Test(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    place: Place
    owner: str = ""
    scope: str = ""
    titles: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    context: str = ""
    kind: Kind = "function"
    broken: bool = False
    empty: bool = False
    imports: Mapping[str, str] = msgspec.field(default_factory=dict)

    def has_call(self, function: Function) -> bool:
        return any(call.fits(function) for call in self.calls)

    def called(self, functions: Iterable[Function]) -> list[Function]:
        return list(filter(self.has_call, functions))


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    functions: Sequence[Function] = ()
    tests: Sequence[Test] = ()
    broken: bool = False


class Index:
    def __init__(self, functions: Iterable[Function], paths: Iterable[str] = ()) -> None:
        """`paths`: the paths of all files of the language."""
        self.paths = frozenset(paths)
        self._named: dict[str, list[Function]] = defaultdict(list)
        self._owned: dict[str, list[Function]] = defaultdict(list)
        for function in functions:
            self._named[function.name].append(function)
            self._owned[function.owner].append(function)

    def named(self, *names: str) -> list[Function]:
        return [function for name in dict.fromkeys(names) for function in self._named.get(name, ())]

    def of(self, owner: str) -> list[Function]:
        return self._owned.get(owner, [])


class Tier(NamedTuple):
    rule: Rule
    functions: Sequence[Function]


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A language whose tests can be paired. The functions are sent to worker processes, so they cannot be lambdas."""

    name: str
    grammars: Mapping[str, str]
    """Extension of a file → name of its grammar. If several extensions fit, the longest one counts."""
    read: Callable[[bytes, str, Node], Parsed]
    """Text of a file, its path, root of its tree → functions and tests."""
    tiers: Callable[[Test, Index], Iterable[Tier]]
    """Test, all functions → tiers of candidates, best tier first. The first tier that is not empty decides."""
    mask: Callable[[bytes], bytes] = bytes
    """Text of a file → the text that is parsed, which must have the same length."""
    nothing: str = ""
    """The code that replaces all other tests when one test is run. Empty if tests of the language cannot be run."""
    framework: Callable[[Mapping[str, object]], str] | None = None
    """Content of package.json → the test framework. None if the text of a test shows its framework."""


def place(source: bytes, path: str, node: Node) -> Place:
    return Place(path=path, begin=node.start_byte, end=node.end_byte, lines=lines_of(source, node))


def stem(path: str) -> str:
    return PurePosixPath(path).name.partition(".")[0]


class Method(msgspec.Struct, frozen=True):
    """A method or function with the classes that contain it, outermost first, and its annotations or attributes."""

    node: Node
    classes: tuple[Node, ...] = ()
    marks: frozenset[str] = frozenset()

    def owner(self, source: bytes) -> str:
        """Return the name of the innermost class, or "" outside of classes."""
        return field_text(source, self.classes[-1], "name") if self.classes else ""

    @property
    def whole(self) -> Node:
        """Return the node of the method and its decorators."""
        parent = self.node.parent
        return parent if parent is not None and parent.type == DECORATED else self.node


DECORATED = "decorated_definition"
NOTHING = {"pass_statement", "string", "ellipsis"}
"""Types of statements that do nothing."""


def find_methods(
    root: Node | None, kind: str, classes: Set[str], bodies: Set[str], marks: Callable[[Node], frozenset[str]]
) -> Iterator[Method]:
    """Yield the methods and functions (nodes of the type `kind`) below a node. `classes`: types of nodes that are
    classes. `bodies`: types of nodes that contain methods. `marks` returns a method's annotations or attributes."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(node, ()) for node in reversed(named_children(root))]
    while stack:
        node, around = stack.pop()
        if node.type == kind:
            yield Method(node, around, marks(node))
        elif node.type in bodies:
            inner = (*around, node) if node.type in classes else around
            stack += [(child, inner) for child in reversed(named_children(node))]


def read_tests(
    source: bytes,
    path: str,
    methods: Iterable[Method],
    calls: Callable[[bytes, Node], Iterable[Call]],
    context: Callable[[tuple[Node, ...]], Iterable[str]],
    more: Callable[[Method], Mapping[str, object]] = lambda _: {},
) -> list[Test]:
    """Return a test for each of `methods`. `calls`: source, method → its calls. `context`: the classes around a method
    → parts of the code without tests. `more`: method → further fields of the test."""
    context_of = cache(lambda classes: "\n".join(context(classes)))
    tests = []
    for method in methods:
        statements = named_children(method.node.child_by_field_name("body"))
        test = Test(
            name=field_text(source, method.node, "name"),
            place=place(source, path, method.whole),
            owner=method.owner(source),
            calls=tuple(calls(source, method.node)),
            context=context_of(method.classes),
            kind="method" if method.classes else "function",
            broken=method.whole.has_error,
            empty=all(statement.type in NOTHING for statement in statements),
        )
        tests.append(replace(test, **more(method)))
    return tests


def read_function(
    source: bytes, path: str, node: Node, owner: str, count: int, *, optional: int = 0, spread: bool, scope: str = ""
) -> Function:
    """Return the function at a node. `count`: the number of all parameters, including `optional` ones. `spread`: true
    if a parameter takes any number of arguments."""
    return Function(
        name=field_text(source, node, "name"),
        place=place(source, path, node),
        owner=owner,
        scope=scope,
        least=count - optional - spread,
        most=None if spread else count,
        broken=node.has_error,
    )


_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


def words(name: str) -> list[str]:
    """Return the words of a name in lower case, such as http, server, 2, go, x for HTTPServer2go_x."""
    return [word.lower() for word in _WORD.findall(name)]


def snake(name: str) -> str:
    return "_".join(words(name))


def lower_first(name: str) -> str:
    return name[:1].lower() + name[1:]


def subject(name: str) -> str:
    """Return what a test, class or file is about: Foo for TestFoo, FooTests and FooTestCase, foo for test_foo."""
    if match := re.fullmatch(r"test_(.+)|(.+)_tests?", name):
        return match[1] or match[2]
    for end in ("TestCases", "TestCase", "Tests", "Test", "Specs", "Spec", "IT"):
        if name.endswith(end) and name != end:
            return name.removesuffix(end)
    return re.sub(r"^Tests?(?=[A-Z_]).", lambda prefix: prefix[0][-1].strip("_"), name)


def beginnings(name: str) -> Iterator[str]:
    """Yield the name, then its beginnings that end before a `_` or a capital, longest first."""
    yield name
    for at in range(len(name) - 1, 0, -1):
        before, here = name[at - 1], name[at]
        if here == "_" or (here.isupper() and not before.isupper()):
            yield name[:at].rstrip("_")


def mentions(titles: Sequence[str], name: str) -> bool:
    """Return whether one of the titles contains the words of `name` one after the other."""
    phrase = " ".join(words(name))
    return bool(phrase) and any(f" {phrase} " in f" {' '.join(words(title))} " for title in titles)


Outcome = Literal[
    "paired",
    "unreadable",
    "empty",
    "no function",
    "several functions",
    "overloaded",
    "long test",
    "long input",
    "many assertions",
    "duplicate",
    "low confidence",
    "over the limit",
]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    test: Test
    function: Function
    rule: Rule
    name_matches: bool
    is_called: bool

    @property
    def confidence(self) -> Literal["high", "low"]:
        return "high" if self.name_matches and self.is_called else "low"


def pair(test: Test, index: Index, dialect: Dialect) -> Pair | Outcome:
    if test.broken or test.empty:
        return "unreadable" if test.broken else "empty"
    tier = next((tier for tier in dialect.tiers(test, index) if tier.functions), None)
    if tier is None:
        return "no function"
    # Several spellings of a name may lead to the same function, so remove duplicates.
    function = _only_function(test, list({focal.place: focal for focal in tier.functions}.values()))
    if isinstance(function, str):
        return function
    if function.broken:
        return "unreadable"
    names = [test.name, test.owner, *test.titles, stem(test.place.path)]
    matches = tier.rule != "call" or mentions(names, function.name)
    return Pair(test=test, function=function, rule=tier.rule, name_matches=matches, is_called=test.has_call(function))


def _only_function(test: Test, functions: Sequence[Function]) -> Function | Outcome:
    """Return the nearest function, or the reason if there are several. Called functions are nearer."""
    about = subject(test.owner)

    def is_imported(function: Function) -> bool:
        module = test.imports.get(function.owner or function.name, "")
        return bool(module) and module.replace("/", ".").rpartition(".")[2] in {stem(function.place.path), ""}

    def shared_names(function: Function) -> int:
        """Count the names that both paths share, from the file upwards: 2 for tests/a/test_b.py and src/a/b.py."""
        names = zip(_names(test.place.path), _names(function.place.path), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], names))

    nearness: Sequence[Callable[[Function], int]] = (
        test.has_call,
        lambda function: bool(about) and function.owner == about,
        is_imported,
        shared_names,
    )
    for near in nearness:
        if len(functions) == 1:
            return functions[0]
        nearest = max(map(near, functions))
        functions = [function for function in functions if near(function) == nearest]
    if len(functions) == 1:
        return functions[0]
    same = len({(function.name, function.owner, function.place.path) for function in functions}) == 1
    return "overloaded" if same else "several functions"


@lru_cache(maxsize=100_000)
def _names(path: str) -> list[str]:
    # Leave out `tests` and `src`: below them, the folders of tests and code often have the same names.
    folders = [name for name in dirname(path).split("/") if not re.fullmatch("tests?|__tests__|src", name)]
    return [snake(subject(stem(path))), *reversed(folders)]
