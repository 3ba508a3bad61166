"""The headers that a project of C++ includes."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.grammar.imports.cpp import folders, list_includes
from tests.grammar.imports.there import shares
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
    assert list_includes('#include "a.h" // b\n#include MACRO\n// #include "c.h"\n') == [("a.h", True)]


def test_a_folder_that_a_compile_database_names_has_headers(tmp_path: Path) -> None:
    write(tmp_path, main__cc="", **{"lib/include/ledger__h": ""})
    text = "#include <ledger.h>\n"
    assert shares("cpp", tmp_path, "main.cc", text) == [False]
    command = f'[{{"directory": "b", "file": "main.cc", "command": "c++ -isystem {tmp_path}/lib/include -I/etc"}}]'
    write(tmp_path, **{"build/debug/compile_commands__json": command})
    assert shares("cpp", tmp_path, "main.cc", text) == [True]
    assert shares("cpp", tmp_path, "main.cc", "#include <passwd>\n") == [False]


def test_a_header_of_cpp_is_beside_in_the_project_or_the_systems(tmp_path: Path) -> None:
    write(tmp_path, **{"db/a__cc": '#include "lib/b.h"\n', "include/lib/b__h": "", "db/a__h": ""})
    text = '#include "a.h"\n#include <lib/b.h>\n#include <boost/none.hpp>\n'
    assert shares("cpp", tmp_path, "db/a.cc", text) == [True, True, False]
