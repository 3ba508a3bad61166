"""What a file imports, and whether that is there."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from ci_eval import languages
from ci_eval.grammar.imports.cpp import folders, included
from tests.projects import write


def test_the_folders_are_those_that_the_includes_count_from(tmp_path: Path) -> None:
    main = '#include "db/impl.h"\n#  include <lib/db.h>\n#include <stdint.h>\n'
    write(tmp_path, **{"x/db/main__cc": main, "x/db/impl__h": "", "x/include/lib/db__h": "", "x/port/stdint__h": ""})
    assert folders(tmp_path) == ["x", "x/include"]


def test_a_header_beside_the_file_that_includes_it_needs_no_folder(tmp_path: Path) -> None:
    write(tmp_path, **{"a/main__cc": '#include "impl.h"\n#include "../b/o.h"\n', "a/impl__h": "", "b/o__h": ""})
    assert folders(tmp_path) == []


def test_of_several_headers_the_nearest_counts_and_of_folders_the_most_useful_comes_first(tmp_path: Path) -> None:
    text = '#include "d/one.h"\n'
    headers = {"a/d/one__h": "", "b/d/one__h": ""}
    write(tmp_path, **headers, **{"a/x/1__cc": text, "b/x/2__cc": text, "b/x/3__cc": text})
    assert folders(tmp_path) == ["b", "a"]


def test_what_no_file_of_the_project_has_is_not_looked_for(tmp_path: Path) -> None:
    assert folders(write(tmp_path, main__cc="#include <boost/any.hpp>\n#include MACRO\n")) == []
    assert included('#include "a.h" // b\n#include MACRO\n// #include "c.h"\n') == [("a.h", True)]


def shares(language: str, root: Path, path: str, text: str, environment: Path | None = None) -> list[bool]:
    imports = languages.CATALOG.load(language).imports
    assert imports
    return list(imports(root, environment)(path, text))


def test_a_module_of_python_is_in_the_project_the_library_or_the_environment(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{"src/one/two__py": "", "pkg/a__py": "", "pkg/b__py": ""})
    site = tmp_path / "e" / "lib" / "python3.11" / "site-packages"
    write(site, **{"flask/app__py": "", "fast__abi3__so": ""})
    text = "import os.path, one.two as x, fast\nfrom . import b\nfrom .b import c\nfrom flask.app import d\n"
    assert shares("python", root, "pkg/a.py", text, tmp_path / "e") == [True] * 6
    wrong = "import flask.nothing\nfrom .c import d\nfrom .e.f import g\n    import nothing\n"
    assert shares("python", root, "pkg/a.py", wrong, tmp_path / "e") == [False] * 4


def test_a_package_of_go_is_in_a_module_that_is_there(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{"go__mod": "module example__com/me\n".replace("__", "."), "sub/a__go": ""})
    write(tmp_path / "e" / "modules" / "github.com" / "!burnt!sushi" / "toml@v1.0.0", **{"internal/a__go": ""})
    block = (
        '"fmt"\n\tx "example.com/me/sub"\n\t. "github.com/BurntSushi/toml"\n\t"github.com/BurntSushi/toml/internal"\n'
    )
    assert shares("go", root, "a.go", f'import "C"\nimport (\n\t{block})\n', tmp_path / "e") == [True] * 5
    wrong = 'import (\n"example.com/me/none"\n"github.com/x/y"\n"github.com/BurntSushi/toml/none")\n'
    assert shares("go", root, "a.go", wrong, tmp_path / "e") == [False] * 3


def test_a_header_of_cpp_is_beside_in_the_project_or_the_systems(tmp_path: Path) -> None:
    write(tmp_path, **{"db/a__cc": '#include "lib/b.h"\n', "include/lib/b__h": "", "db/a__h": ""})
    text = '#include "a.h"\n#include <lib/b.h>\n#include <boost/none.hpp>\n'
    assert shares("cpp", tmp_path, "db/a.cc", text) == [True, True, False]


def test_a_module_of_javascript_is_a_file_a_package_or_built_in(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{"lib/a__ts": "", "lib/b/index__js": "", "node_modules/@me/x/package__json": ""})
    write(tmp_path / "e", **{"node_modules/@types/lodash/index__d__ts": ""})
    text = "import a from './a.js'; export * from './b'; require('fs/promises'); import '@me/x/y'; import('lodash')\n"
    assert shares("javascript", root, "lib/c.js", text, tmp_path / "e") == [True] * 5
    assert shares("typescript", root, "lib/c.ts", "import 'left-pad'; import x from './c/none';\n") == [False] * 2


def test_a_class_of_java_is_in_the_jdk_the_project_or_a_jar(tmp_path: Path) -> None:
    root = write(tmp_path / "p", A__java="package a.b;\n")
    (tmp_path / "e").mkdir()
    with ZipFile(tmp_path / "e" / "x.jar", "w") as jar:
        jar.writestr("com/google/gson/Gson.class", "")
    text = "import java.util.List;\nimport static a.b.A.C.d;\nimport com.google.gson.*;\nimport javax.inject.Inject;\n"
    assert shares("java", root, "A.java", text, tmp_path / "e") == [True, True, True, False]
    assert shares("kotlin", root, "A.kt", "import kotlin.math.PI\nimport org.junit.Test\n") == [True, False]


def test_what_is_no_name_of_a_file_is_not_there(tmp_path: Path) -> None:
    long = "x" * 5000
    assert shares("cpp", tmp_path, "a.cc", f'#include "{long}.h"\n#include "a\0b"\n') == [False, False]
    assert shares("python", tmp_path, "a.py", f"import {long}\n") == [False]
    assert shares("javascript", tmp_path, "a.js", f"import './{long}'; import '{long}'\n") == [False, False]
