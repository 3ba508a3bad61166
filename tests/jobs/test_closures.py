"""Which files are in the digest of what answers in a file depend on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.jobs.reuse import digest_imports

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg.b import x\n",
    "pkg/b.py": "from . import c\n",
    "pkg/c.py": "x = 1\n",
    "pkg/alone.py": "y = 2\n",
    "pyproject.toml": "[project]\n",
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def touched(folder: Path, name: str, text: str = "changed = 1\n") -> set[str]:
    """The sources whose digests change where that file gets this text."""
    before = digest_imports(folder)
    written(folder, {name: text})
    after = digest_imports(folder)
    return {path for path in before if before[path] != after[path]}


def test_a_change_counts_for_the_file_and_for_all_that_import_it_directly_or_not(tmp_path: Path) -> None:
    written(tmp_path, FILES)
    assert touched(tmp_path, "pkg/c.py") == {"pkg/a.py", "pkg/b.py", "pkg/c.py"}
    assert touched(tmp_path, "pkg/alone.py") == {"pkg/alone.py"}
    assert touched(tmp_path, "pkg/__init__.py") == {"pkg/__init__.py", "pkg/a.py", "pkg/b.py"}


@pytest.mark.parametrize("name", ["pyproject.toml", "pkg/new.py", "pkg/py.typed", "__builtins__.pyi"])
def test_settings_and_new_files_count_for_all(name: str, tmp_path: Path) -> None:
    assert touched(written(tmp_path, FILES), name) == {path for path in FILES if path.endswith(".py")}


@pytest.mark.parametrize(
    "text",
    [
        "import pkg.c",
        "import os, pkg.c as d",
        "from pkg import c",
        "from pkg import (  # these\n    alone,  # not that\n    c as d,\n)",
        "from pkg import alone, \\\n    c",
        "if True: from pkg import c",
        "x = 1; import pkg.c",
        "def f():\n    from .pkg.c import x",
        "try:\n    import pkg.c\nexcept ImportError: pass",
        "from pkg import *",
        "from .pkg import (*)",
        "from pkg.c import *",
    ],
)
def test_however_it_is_imported_it_counts(text: str, tmp_path: Path) -> None:
    written(tmp_path, {**FILES, "main.py": f"{text}\n"})
    assert "main.py" in touched(tmp_path, "pkg/c.py")


@pytest.mark.parametrize("text", ["from . import c", "from .c import x", "from .. import pkg", "from . import *"])
def test_what_is_near_is_found_from_where_it_is_imported(text: str, tmp_path: Path) -> None:
    written(tmp_path, {**FILES, "pkg/__init__.py": "from .c import x\n", "pkg/near.py": f"{text}\n"})
    assert "pkg/near.py" in touched(tmp_path, "pkg/c.py")


def test_stubs_and_folders_in_between_count(tmp_path: Path) -> None:
    written(tmp_path, {"src/pkg/c.pyi": "x: int\n", "main.py": "import pkg.c\n", "tests/t.py": "x = 1\n"})
    assert touched(tmp_path, "src/pkg/c.pyi") == {"src/pkg/c.pyi", "main.py"}


def test_files_that_import_each_other_have_an_end(tmp_path: Path) -> None:
    written(tmp_path, {"a.py": "import b\n", "b.py": "import a\n", "c.py": "import a\n", "d.py": ""})
    assert touched(tmp_path, "b.py", "import a\nx = 1\n") == {"a.py", "b.py", "c.py"}
