"""What is special about C++."""

from __future__ import annotations

from ci_eval.plugins.languages.cpp import LANGUAGE
from ci_eval.plugins.languages.cpp.names import declare


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
