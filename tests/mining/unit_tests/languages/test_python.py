"""Tests of Python are paired by pytest's and unittest's ways of naming them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mining.unit_tests.pairs import fate, mined, pairs, shown

CODE = """\
import os


class Box:
    def __init__(self, size):
        self.size = size

    @property
    def half(self):
        return self.size / 2

    def grow(self, by):
        self.size += by


def take(items, n):
    return items[:n]


def take_all(items):
    return items
"""


def of(tmp_path: Path, test: str, code: str = CODE, path: str = "tests/test_box.py") -> dict[object, object]:
    return pairs(mined(tmp_path, "python", {"box.py": code, path: test}))


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("def test_take():\n    assert take([1], 1)\n", {"test_take": "take"}),
        ("def test_take_of_nothing():\n    assert take([], 1) == []\n", {"test_take_of_nothing": "take"}),
        ("def test_take_all_twice():\n    take_all(take_all(x))\n", {"test_take_all_twice": "take_all"}),
        ("class TestTake:\n    def test_few(self):\n        assert m.take([1], 2)\n", {"TestTake.test_few": "take"}),
        ("class TakeTests(T):\n    def testFew(self):\n        take([1], 2)\n", {"TakeTests.testFew": "take"}),
        ("class TestBox:\n    def test_grow(self):\n        Box(1).grow(1)\n", {"TestBox.test_grow": "Box.grow"}),
        (
            "class TestBox:\n    def test_half(self):\n        assert Box(2).half == 1\n",
            {"TestBox.test_half": "Box.half"},
        ),
        ("def test_take():\n    with raises(E):\n        take(1)\n", {"test_take": "take"}),
        ("def test_grow_bad():\n    raises(TypeError, Box(1).grow, None)\n", {"test_grow_bad": "Box.grow"}),
        ("@mark.slow\ndef test_take():\n    take([], 0)\n", {"test_take": "take"}),
        ("def helper():\n    take([], 0)\n", {}),
        ("def test_other():\n    take([], 0)\n", {}),
    ],
)
def test_a_test_is_paired_with_what_it_is_named_after(
    tmp_path: Path, test: str, expected: dict[object, object]
) -> None:
    assert of(tmp_path, test) == expected


def test_a_name_alone_does_not_do_where_the_function_is_elsewhere_and_not_called(tmp_path: Path) -> None:
    assert of(tmp_path, "def test_take():\n    assert 1\n", path="tests/test_other.py") == {}


def test_of_two_functions_the_one_in_the_module_that_the_test_is_named_after_is_meant(tmp_path: Path) -> None:
    files = {"a.py": "def f():\n    return 1\n", "b.py": "def f():\n    return 2\n"}
    found = mined(tmp_path, "python", {**files, "test_b.py": "def test_f():\n    assert f()\n"})
    assert [line.meta["focalPath"] for line in found.lines] == ["b.py"]


def test_a_test_that_may_be_of_two_functions_is_of_none(tmp_path: Path) -> None:
    files = {"a.py": "def f():\n    return 1\n", "b.py": "def f():\n    return 2\n"}
    assert fate(mined(tmp_path, "python", {**files, "test_c.py": "def test_f():\n    f()\n"})) == "several functions"


def test_an_import_tells_which_of_two_functions_is_meant(tmp_path: Path) -> None:
    files = {"p/a.py": "def f():\n    return 1\n", "p/b.py": "def f():\n    return 2\n"}
    test = "from p.a import f\n\ndef test_f():\n    f()\n"
    found = mined(tmp_path, "python", {**files, "test_c.py": test})
    assert [line.meta["focalPath"] for line in found.lines] == ["p/a.py"]


@pytest.mark.parametrize(
    ("body", "expected"), [("pass", "empty"), ('"""Later."""', "empty"), ("x = = take([])", "unreadable")]
)
def test_an_empty_or_broken_test_is_counted_as_such(tmp_path: Path, body: str, expected: str) -> None:
    assert (
        fate(mined(tmp_path, "python", {"box.py": CODE, "test_box.py": f"def test_take():\n    {body}\n"})) == expected
    )


CONTEXT = '''\
# A licence.
import pytest
from box import take

LIMIT = 3


class Fake:
    def test(self):
        return 1


@pytest.fixture
def items(n):
    """Some."""
    return [1] * n


class TestOther:
    def test_one(self):
        take([], 1)


class TestBox(Base):
    """Boxes."""

    size = 4

    def setUp(self):
        self.n = 1

    def check(self, box):
        assert box

    @pytest.mark.slow
    def test_take(self):
        take([], 0)

    # not this one
    def test_grow(self):
        take([], 0)


def test_take():
    take([], 0)
'''


def test_the_context_has_no_other_test_and_functions_only_by_their_signatures(tmp_path: Path) -> None:
    found = mined(tmp_path, "python", {"box.py": CODE, "test_box.py": CONTEXT})
    line = next(line for line in found.lines if line.meta["test"] == "TestBox.test_take")
    assert (
        shown(line, "test_func_context")
        == '''\
import pytest
from box import take
LIMIT = 3
@pytest.fixture
def items(n): ...
class TestBox(Base):
    """Boxes."""
    size = 4
    def setUp(self):
        self.n = 1
    def check(self, box): ...'''
    )
    assert line.references == ("@pytest.mark.slow\ndef test_take(self):\n    take([], 0)",)


def test_the_function_is_cut_out_of_its_file(tmp_path: Path) -> None:
    found = mined(tmp_path, "python", {"box.py": CODE, "test_box.py": "def test_grow():\n    Box(1).grow(1)\n"})
    assert shown(found.lines[0], "focal_func") == "def grow(self, by):\n    self.size += by"
    rest = CODE.replace("def grow(self, by):\n        self.size += by", "#focal function/method here")
    assert shown(found.lines[0], "focal_func_context") == f"#box.py\n{rest}"


def test_a_test_of_one_function_and_another_is_of_none(tmp_path: Path) -> None:
    code = "def split(x):\n    return x\n\n\ndef join(x):\n    return x\n"
    test = "def test_split_and_join():\n    assert join(split(1))\n"
    assert fate(mined(tmp_path, "python", {"a.py": code, "test_a.py": test})) == "several functions"
    alone = "def test_split_and_more():\n    assert split(1)\n"
    assert of(tmp_path / "b", alone, code=code) == {"test_split_and_more": "split"}
