"""Object usages in Python."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.core.model import Definition
from ci_eval.plugins.mining.usages.dialect import MinedText
from ci_eval.plugins.mining.usages.languages.python import STUBS
from ci_eval.plugins.mining.usages.languages.python.expressions import qualify_module
from ci_eval.plugins.mining.usages.texts import JediInference
from tests.mining.usages.mined import only, text, usages

DEFINITIONS = {
    "from a.b import Box\nbox = Box(1)\nbox.go()": Definition(kind="NEW", member="a.b.Box"),
    "import a.b as c\nbox = c.Box(1)\nbox.go()": Definition(kind="NEW", member="a.b.Box"),
    "from a.b import Box\nbox: Box = make()\nbox.go()": Definition(kind="RETURN", member="make"),
    "from a.b import Box\nfor box in [Box()]: box.go()": Definition(kind="LOOP"),
    "from a.b import Box\nwith Box() as box: box.go()": Definition(kind="WITH", member="a.b.Box"),
    "from a.b import Box\ntry: pass\nexcept Box as box: box.go()": Definition(kind="EXCEPT"),
    "from a.b import Box\nif isinstance(box, Box): box.go()": Definition(kind="CAST"),
    "from a.b import Box\nfrom typing import cast\nbox = cast(Box, 1)\nbox.go()": Definition(kind="CAST"),
    "from a.b import Box\nif box := Box(): box.go()": Definition(kind="NEW", member="a.b.Box"),
    "from a.b import Box\n[box.go() for box in [Box()]]": Definition(kind="LOOP"),
    "from a.b import Box\nbox, other = Box(), 1\nbox.go()": Definition(kind="NEW", member="a.b.Box"),
    "from a.b import Box\nbox = None or Box()\nbox.go()": Definition(),
    "from a.b import Box\nBox().go()": Definition(kind="NEW", member="a.b.Box"),
    "from .a.b import Box\nbox = Box()\nbox.go()": None,
}


@pytest.mark.parametrize("code", DEFINITIONS)
def test_an_object_comes_from_where_the_code_says(code: str) -> None:
    expected = DEFINITIONS[code]
    if expected is None:
        assert [each.usage.type for each in text(code).usages if each.own] == ["shop.a.b.Box"]
    elif expected.kind == "UNKNOWN":
        assert "go" in only(code, "a.b.Box")[1]
    else:
        assert only(code, "a.b.Box") == (expected, ("go",))


PARAMETERS = {
    "box: Box": ("a.b.Box", 0),
    "box: 'Box | None' = None": ("a.b.Box", 0),
    "first, box: Optional[Box] = None": ("a.b.Box", 1),
    "*, box: a.b.Box": ("a.b.Box", 0),
    "*box: Box": ("builtins.tuple", 0),
    "**box": ("builtins.dict", 0),
    "box=''": ("builtins.str", 0),
    "box: List[Box]": ("builtins.list", 0),
}


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_parameter_has_the_type_of_its_annotation_or_default(parameter: str) -> None:
    type_, number = PARAMETERS[parameter]
    imports = "import a.b\nfrom a.b import Box\nfrom typing import List, Optional\n"
    definition, calls = only(f"{imports}def put({parameter}): box.go()", type_)
    assert (definition, calls) == (Definition(kind="PARAM", member="shop.cart.put", argument=number), ("go",))


def test_what_the_standard_library_returns_is_known() -> None:
    found = usages("""\
        import re, os.path
        from pathlib import Path
        def read(name: Path):
            for line in name.read_text().splitlines():
                line.strip()
            re.compile('x').match(line).group()
            os.path.join('a').lower()
            with open(name) as file:
                file.read().split()
        """)
    assert found["builtins.str"].calls == ("splitlines", "strip", "lower", "split")
    assert found["re.Match"].definition == Definition(kind="RETURN", member="re.Pattern.match")
    assert found["io.TextIOWrapper"].definition == Definition(kind="WITH", member="builtins.open")
    assert (STUBS / "builtins.pyi").exists() or (STUBS / "2and3" / "builtins.pyi").exists()


MODES = {
    "open(x)": "io.TextIOWrapper",
    "open(x, 'w')": "io.TextIOWrapper",
    "open(x, 'rb')": "io.BufferedReader",
    "open(x, mode='ab')": "io.BufferedWriter",
    "open(x, 'r+b')": "io.BufferedRandom",
    "pathlib.Path(x).open('wb')": "io.BufferedWriter",
}


@pytest.mark.parametrize("opening", MODES)
def test_a_file_is_of_the_type_that_its_mode_gives_it(opening: str) -> None:
    assert only(f"import pathlib\nwith {opening} as file: file.close()", MODES[opening])[1] == ("close",)


def test_a_class_of_a_library_gives_its_heirs_their_context() -> None:
    (setup, test) = text("""\
        import unittest, a
        class TestBox(unittest.TestCase):
            def setUp(self):
                self.box = a.Box()
            def test_box(self):
                self.box.go()
                self.assertTrue(1)
        """).usages
    assert (setup.method, setup.usage.class_) == ("shop.cart.TestBox.setUp", "unittest.TestCase")
    assert setup.usage.method == "unittest.TestCase.setUp"
    assert (setup.usage.definition.kind, setup.usage.calls) == ("NEW", ())
    assert (test.usage.class_, test.usage.method) == ("unittest.TestCase", "shop.cart.TestBox.test_box")
    assert test.usage.definition == Definition(kind="FIELD", member="shop.cart.TestBox.box")


METHODS = {
    "class A(b.C):\n  def m(self): ''.strip()": "b.C.m",
    "class A(unittest.TestCase):\n  def __repr__(self): ''.strip()": "builtins.object.__repr__",
    "class A:\n  def __init__(self): ''.strip()": "builtins.object.__init__",
    "class A:\n  def m(self): ''.strip()": "shop.cart.A.m",
    "class A(Generic[T]):\n  def m(self): ''.strip()": "shop.cart.A.m",
    "def m():\n  ''.strip()": "shop.cart.m",
    "''.strip()": "shop.cart.<module>",
}


@pytest.mark.parametrize("code", METHODS)
def test_a_method_is_named_for_the_one_that_it_overrides(code: str) -> None:
    (found,) = text(f"import b, unittest\nfrom typing import Generic\n{code}").usages
    assert found.usage.method == METHODS[code]


def test_objects_of_one_type_in_one_method_are_merged() -> None:
    definition, calls = only(
        """\
        from a import Box
        def put(one: Box):
            one.open(); one.put()
            other = Box()
            other.put(); other.close()
        """,
        "a.Box",
    )
    assert definition == Definition(kind="NEW", member="a.Box")
    assert calls == ("open", "put", "close")


def test_of_several_assignments_of_a_variable_the_last_one_counts() -> None:
    definition, _ = only("from a import Box\nbox = Box()\nbox: Box = make()\nbox.go()", "a.Box")
    assert definition.kind == "RETURN"


RECEIVERS = {
    "import os\nos.getcwd()": "module",
    "from a import Box\nBox.make()": "class",
    "class A:\n  def m(self): self.n()": "this",
    "class A(B):\n  def m(self): super().m()": "this",
    "from a import box\nbox.go()": "unknown",
    "from typing import TypeVar\nT = TypeVar('T')\ndef f(x: T): x.go()": "type parameter",
    "''.join([])": "object",
}


@pytest.mark.parametrize("code", RECEIVERS)
def test_what_is_no_object_is_counted_for_what_it_is(code: str) -> None:
    assert text(code).receivers == {RECEIVERS[code]: 1}


def test_a_function_sees_what_is_assigned_below_it_in_the_module() -> None:
    found = {each.method: each.usage for each in text("import a\ndef put():\n  box.go()\nbox = a.Box()\n").usages}
    assert found["shop.cart.put"].definition == Definition(kind="GLOBAL", member="shop.cart.box")


def test_functions_of_the_file_return_what_their_annotations_say() -> None:
    code = "import a\ndef make() -> a.Box: ...\ndef put():\n  box = make()\n  box.go()\n"
    assert only(code, "a.Box") == (Definition(kind="RETURN", member="shop.cart.make"), ("go",))


def test_jedi_is_asked_where_local_rules_do_not_tell_and_once_for_each_function() -> None:
    infer = JediInference()
    code = (
        "import collections\ndef put():\n  boxes = {1: collections.Counter()}\n  box = boxes.pop(1)\n  box.elements()\n"
    )
    assert "elements" not in {call for each in usages(code).values() for call in each.calls}
    assert usages(code, infer=infer)["collections.Counter"].calls == ("elements",)
    asked = infer.asked
    usages(f"{code}\ndef other(): pass\n", infer=infer)
    assert infer.asked == asked
    usages(code.replace("boxes", "chests"), infer=infer)
    assert infer.asked > asked


BROKEN = "from a import Box\ndef put(box: Box):\n    box.open()\n    box.\n    box.close()\n    if (\n\n"


def test_what_is_whole_in_a_broken_text_is_found() -> None:
    found = text(BROKEN)
    assert found.broken
    assert {"open", "close"} == set(next(each.usage.calls for each in found.usages if each.usage.type == "a.Box"))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 1000), st.text(max_size=20))
def test_no_text_raises(begin: int, end: int, other: str) -> None:
    code = "".join(DEFINITIONS)
    first, last = sorted((begin % len(code), end % len(code)))
    assert isinstance(text(code[:first] + other + code[last:]), MinedText)


@pytest.mark.parametrize(
    "deep",
    ["(" * 20_000, "a" + ".b()" * 3_000, "x = " + "-" * 20_000 + "1", "[" * 20_000],
    ids=["parentheses", "calls", "signs", "brackets"],
)
def test_no_nesting_is_too_deep(deep: str) -> None:
    assert isinstance(text(deep), MinedText)


def test_modules_are_named_for_their_paths() -> None:
    names = {"src/a/b.py": "a.b", "a/__init__.py": "a", "b.py": "b", "__init__.py": "__init__"}
    names |= {"/home/a/b.py": "home.a.b", "C:\\a\\b.py": "C:.a.b"}
    assert {path: qualify_module(path) for path in names} == names
