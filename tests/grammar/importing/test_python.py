"""Imports of Python are read, taken out, and followed to what they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.grammar.importing import count_errors
from ci_eval.core.grammar.importing.python import SYNTAX
from ci_eval.core.import_syntax import Import, Project

TEXT = """from __future__ import annotations
from a.b import One
from .c import (
    Two,  # é
    Three as Drei,
    Four,
)
if True:
    from d import Five
from e import Six; x = 1
from f import *
from g import Seven
from h import Seven
"""


def removable(text: str) -> dict[str, Import]:
    return {item.name: item for item in SYNTAX.read(text) if item.removable}


def test_names_that_stand_alone_can_be_removed() -> None:
    assert list(removable(TEXT)) == ["One", "Two", "Four"]
    assert {item.name for item in SYNTAX.read(TEXT)} >= {"annotations", "Drei", "Five", "Six", "*", "Seven"}


@pytest.mark.parametrize(
    ("name", "gone"),
    [("One", "from a.b import One\n"), ("Two", "Two,  # é\n    "), ("Four", ",\n    Four")],
)
def test_what_goes_leaves_all_other_imports(name: str, gone: str) -> None:
    item = removable(TEXT)[name]
    assert TEXT[item.begin : item.end] == gone
    left = SYNTAX.read(TEXT[: item.begin] + TEXT[item.end :])
    assert [other.name for other in left] == [other.name for other in SYNTAX.read(TEXT) if other.name != name]


def test_a_text_that_python_cannot_read_has_no_imports() -> None:
    assert SYNTAX.read("from a import b\ndef") == []
    assert SYNTAX.read("(" * 5000) == []


def test_an_import_before_the_future_is_an_error() -> None:
    assert count_errors(SYNTAX, TEXT.replace("from f import *\n", ""), "python") == 0
    assert count_errors(SYNTAX, "from a import b\nfrom __future__ import annotations\n", "python") == 1


FILES = {
    "__init__.py": "from .goods import Box as Box\nfrom .goods import *\nfrom . import tools\n",
    "goods.py": "try:\n    from .inner import Lid\nexcept ImportError:\n    Lid = None\nclass Box: pass\n",
    "inner.py": "class Lid: pass\n",
    "tools.py": "from collections import OrderedDict\nclass Box: pass\n",
    "loop.py": "from .loop import Nothing\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "src" / "shop"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return Project(tmp_path, None)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (("shop", "Box"), (".goods", "Box"), True),
        (("shop", "Lid"), (".inner", "Lid"), True),
        (("shop", "tools"), (".", "tools"), True),
        ((".tools", "OrderedDict"), ("collections", "OrderedDict"), True),
        (("shop", "Box"), (".tools", "Box"), False),
        (("collections", "OrderedDict"), ("typing", "OrderedDict"), False),
        (("shop.loop", "Nothing"), (".goods", "Box"), False),
        (("nowhere", "Box"), (".goods", "Box"), False),
        (("posix", "stat"), ("os", "stat"), False),
    ],
)
def test_re_exports_are_followed(project: Project, first: tuple[str, str], second: tuple[str, str], same: bool) -> None:
    modules = SYNTAX.modules(project)
    path = "src/shop/main.py"
    assert (modules.origin(path, *first) == modules.origin(path, *second)) == same


def test_a_module_has_one_identity(project: Project) -> None:
    modules = SYNTAX.modules(project)
    names = ("shop.goods", ".goods", "src.shop.goods")
    assert len({modules.identify("src/shop/main.py", name) for name in names}) == 1
    assert modules.identify("src/shop/main.py", "sys") == "sys"
