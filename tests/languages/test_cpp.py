"""What is special about C++."""

from __future__ import annotations

from pathlib import Path

from ci_eval.plugins.languages.cpp import LANGUAGE
from ci_eval.plugins.languages.cpp.imports import folders, list_includes
from ci_eval.plugins.languages.cpp.references import declare
from tests.languages.there import shares
from tests.projects import write


def spelled(text: str) -> list[str]:
    found = LANGUAGE.extract(text, "a.cc", {"shop": frozenset(["Order"])}).tokens
    return [f"{token.text} {token.properties.kind.value} {token.properties.location}" for token in found]


def test_a_macro_alone_on_its_line_hides_nothing_that_follows() -> None:
    found = LANGUAGE.extract("LIB_BEGIN_NAMESPACE\n\nOrder first;\n", "a.cc", {})
    assert [token.text for token in found.tokens] == ["Order"]
    assert found.unparsable == 0


def test_what_is_declared_in_a_namespace_of_the_project_is_the_project_s() -> None:
    assert spelled("namespace shop::io { Order one; Item two; std::string s; }")[1:] == [
        "Order TYPE_REFERENCE project",
        "Item TYPE_REFERENCE None",
        "std VARIABLE library",
        "string TYPE_REFERENCE library",
    ]


def test_words_that_the_grammar_takes_for_keywords_are_none() -> None:
    assert spelled("size_t a = NULL;") == ["size_t TYPE_REFERENCE None", "NULL VARIABLE None"]


def test_the_names_of_a_file_are_those_of_its_main_namespace() -> None:
    text = "namespace a {\nclass B;\n}\nnamespace shop {\nclass Order {\n};\nint total(int a,\n  int b) {\n}\n"
    inner = "namespace detail {\nint hidden() {\n}\n}  // namespace detail\nusing Id = int;\n}  // namespace shop\n"
    assert declare(text + inner + "int main() {}\n", "a.cc") == ("shop", frozenset(["Order", "total", "Id"]))


def test_what_a_constructor_is_called_with_is_an_argument() -> None:
    tokens = LANGUAGE.extract("void f() { Slice first(rep_), second(size(rep_)); }", "a.cc", {}).tokens
    assert [token.text for token in tokens if token.properties.is_argument] == ["rep_", "size", "rep_"]


def test_a_namespace_that_only_holds_others_is_known() -> None:
    declared = {"shop::io::deep": frozenset(["Reader"])}
    tokens = LANGUAGE.extract("namespace shop { int a = shop::io::deep::open(); }", "a.cc", declared).tokens
    assert [(token.text, token.properties.kind.value) for token in tokens[2:]] == [
        ("shop", "VARIABLE"),
        ("io", "VARIABLE"),
        ("deep", "VARIABLE"),
        ("open", "METHOD_CALL"),
    ]


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
    command = f'[{{"directory": ".", "file": "main.cc", "command": "c++ -isystem {tmp_path}/lib/include -I/etc"}}]'
    write(tmp_path, **{"build/debug/compile_commands__json": command})
    assert shares("cpp", tmp_path, "main.cc", text) == [True]
    assert shares("cpp", tmp_path, "main.cc", "#include <passwd>\n") == [False]


def test_a_header_of_cpp_is_beside_in_the_project_or_the_systems(tmp_path: Path) -> None:
    write(tmp_path, **{"db/a__cc": '#include "lib/b.h"\n', "include/lib/b__h": "", "db/a__h": ""})
    text = '#include "a.h"\n#include <lib/b.h>\n#include <boost/none.hpp>\n'
    assert shares("cpp", tmp_path, "db/a.cc", text) == [True, True, False]
