"""The pairing of each test with the one function that it tests, or the reason why there is none.

After methods2test (Tufano et al., https://arxiv.org/abs/2009.05617): by name, else by what is called. A test that may
be about several functions is about none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from ci_eval.plugins.mining.unit_tests.contract import Dialect, Function, Index, Rule, Test, folder, stem
from ci_eval.plugins.mining.unit_tests.words import snake, subject, tells

Fate = Literal[
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
"""Outcome of a test; every test has one."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    test: Test
    function: Function
    rule: Rule
    name_matches: bool
    """True if the words of the function's name occur in the test's name or titles."""
    is_called: bool

    @property
    def confidence(self) -> Literal["high", "low"]:
        return "high" if self.name_matches and self.is_called else "low"


def pair(test: Test, index: Index, dialect: Dialect) -> Pair | Fate:
    if test.broken:
        return "unreadable"
    if test.empty:
        return "empty"
    for tier in dialect.tiers(test, index):
        if tier.functions:
            # Several spellings of a name may lead to one function.
            focal = _only_function(test, list({focal.place: focal for focal in tier.functions}.values()))
            return focal if isinstance(focal, str) else _make_pair(test, focal, tier.rule)
    return "no function"


def _make_pair(test: Test, function: Function, rule: Rule) -> Pair | Fate:
    if function.broken:
        return "unreadable"
    names = [test.name, test.owner, *test.titles, stem(test.place.path)]
    matches = rule != "call" or tells(names, function.name)
    return Pair(
        test=test, function=function, rule=rule, name_matches=matches, is_called=bool(test.matching_calls(function))
    )


def _only_function(test: Test, functions: Sequence[Function]) -> Function | Fate:
    """Return the only function that the test can be about, or why there is none. A called function is nearer than one
    that is not, and so on."""
    about = subject(test.owner)
    nearness: Sequence[Callable[[Function], int]] = (
        lambda function: bool(test.matching_calls(function)),
        lambda function: bool(about) and function.owner == about,
        lambda function: _has_import(test, function),
        lambda function: _shared_names(test.place.path, function.place.path),
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


def _shared_names(test: str, focal: str) -> int:
    """Return how many names, from the file's on upwards, the two paths have in common: 2 for tests/a/test_b.py and
    src/a/b.py."""
    names = zip(_names(test), _names(focal), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], names))


@lru_cache(maxsize=100_000)
def _names(path: str) -> list[str]:
    # Below `tests` and `src`, the folders of tests and code often have the same names.
    folders = [name for name in folder(path).split("/") if not re.fullmatch("tests?|__tests__|src", name)]
    return [snake(subject(stem(path))), *reversed(folders)]


def _has_import(test: Test, function: Function) -> bool:
    module = test.imports.get(function.owner or function.name, "")
    return bool(module) and module.replace("/", ".").rpartition(".")[2] in {stem(function.place.path), ""}
