"""The words that names are made of, and what the names of tests say by them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


def words(name: str) -> list[str]:
    """Return the words of an identifier or a sentence, in lower case: HTTPServer2go_x → http server 2 go x."""
    return [word.lower() for word in _WORD.findall(name)]


def snake(name: str) -> str:
    return "_".join(words(name))


def lower_first(name: str) -> str:
    return name[:1].lower() + name[1:]


def upper_first(name: str) -> str:
    return name[:1].upper() + name[1:]


def subject(name: str) -> str:
    """Return what a class or file of tests is about, by its name: TestFoo, FooTests, FooTestCase → Foo; test_foo →
    foo."""
    if match := re.fullmatch(r"test_(.+)|(.+)_tests?", name):
        return match[1] or match[2]
    for end in ("TestCases", "TestCase", "Tests", "Test", "Specs", "Spec", "IT"):
        if name.endswith(end) and name != end:
            return name.removesuffix(end)
    return re.sub(r"^Tests?(?=[A-Z_]).", lambda prefix: prefix[0][-1].strip("_"), name)


def beginnings(name: str) -> Iterator[str]:
    """Yield the name, then what is in front of each `_` or capital in it, the longest first."""
    yield name
    for at in range(len(name) - 1, 0, -1):
        before, here = name[at - 1], name[at]
        if here == "_" or (here.isupper() and not before.isupper()):
            yield name[:at].rstrip("_")


def tells(titles: Sequence[str], name: str) -> bool:
    """Return whether the words of `name` stand one after the other in one of the names or titles."""
    phrase = " ".join(words(name))
    return bool(phrase) and any(f" {phrase} " in f" {' '.join(words(title))} " for title in titles)
