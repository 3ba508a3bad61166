"""Imports of Python."""

from __future__ import annotations

from pathlib import Path

from tests.grammar.imports.there import shares
from tests.projects import write


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
