"""What is special about Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_eval.core.grammar.parsing import count_errors
from ci_eval.core.import_syntax import Import, Project
from ci_eval.plugins.languages.python import LANGUAGE, see_names
from ci_eval.plugins.languages.python.imports import SYNTAX
from tests.languages.there import shares
from tests.projects import write


def test_what_the_grammar_cannot_read_is_measured_and_left_out() -> None:
    found = LANGUAGE.extract("good = ok\n!!! lost $$$\n", "a.py", {})
    assert [token.text for token in found.tokens] == ["ok"]
    assert 0 < found.unparsable < 1


def test_offsets_count_code_points() -> None:
    text = 'name = "𝒳é"\nprint(name)\n'
    assert [text[t.offset : t.offset + len(t.text)] for t in LANGUAGE.extract(text, "a.py", {}).tokens] == [
        "print",
        "name",
    ]


@given(text=st.text(max_size=300))
@example("!ß")
def test_every_token_stands_where_it_says(text: str) -> None:
    for token in LANGUAGE.extract(text, "a.py", {}).tokens:
        assert text[token.offset : token.offset + len(token.text)] == token.text


SEEN = """
from os import path

class A:
    size = 1
    def member(self, size_of):
        for one in [size for other in [1]]: print(one)
        def inner(): return size_of

    names = [each for each in size]

def function():
    global later
    later = 1
    print(later)
"""


@pytest.mark.parametrize(
    ("token", "name", "barred"),
    [
        ("one)", "member", True),
        ("one)", "size", True),
        ("one)", "A", False),
        ("one)", "path", False),
        ("one)", "size_of", False),
        ("one)", "later", False),
        ("one)", "len", False),
        ("one)", "__class__", False),
        ("one)", "unknown", False),
        ("size_of\n", "size_of", False),
        ("size_of\n", "size", True),
        ("size]", "size", False),
        ("later)", "member", False),
    ],
)
def test_a_bare_member_of_a_class_is_barred_in_its_methods(token: str, name: str, barred: bool) -> None:
    names = see_names(SEEN, "a.py")
    assert names.is_barred(SEEN.index(token), name, is_member=False) is barred


def test_a_name_has_its_origin_only_where_it_is_visible() -> None:
    names, inside, outside = see_names(SEEN, "a.py"), SEEN.index("size_of\n"), SEEN.index("later)")
    assert [names.origin(inside, name) for name in ("size_of", "path", "len", "size")] == [
        "local",
        "file",
        "builtin",
        "",
    ]
    assert names.origin(outside, "size_of") == ""
    assert names.is_standard("os.path")
    assert not names.is_standard("flask")


def test_a_file_that_imports_all_names_of_a_module_is_not_judged() -> None:
    text = "from a import *\n\nclass A:\n    def b(self):\n        print(self)\n"
    assert see_names(text, "a.py").is_barred(text.index("self)"), "b", is_member=True) is None


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


def test_a_module_of_python_is_in_the_project_the_library_or_the_environment(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{"src/one/two__py": "", "pkg/a__py": "", "pkg/b__py": ""})
    site = tmp_path / "e" / "lib" / "python3.11" / "site-packages"
    write(site, **{"flask/app__py": "", "fast__abi3__so": ""})
    text = "import os.path, one.two as x, fast\nfrom . import b\nfrom .b import c\nfrom flask.app import d\n"
    assert shares("python", root, "pkg/a.py", text, tmp_path / "e") == [True] * 6
    wrong = "import flask.nothing\nfrom .c import d\nfrom .e.f import g\n    import nothing\n"
    assert shares("python", root, "pkg/a.py", wrong, tmp_path / "e") == [False] * 4


def test_examples_in_docstrings_import_nothing(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="")
    text = (
        'x = \'"""\'  # it\'s """\n'
        "import os\n"
        'def f():\n    r"""As in\n\n    import nothing\n    from no import where\n    """\n'
        "import gone\n"
    )
    assert shares("python", root, "a.py", text) == [True, False]
