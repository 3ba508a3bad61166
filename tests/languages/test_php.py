"""PHP's own: what its sample cannot say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import Language
from ci_eval.core.model import Kind, Token
from tests.projects import write

PHP: Language = languages.CATALOG.load("php")


def tokens(text: str) -> tuple[Token, ...]:
    return PHP.extract(text, "a.php", {}).tokens


@pytest.mark.parametrize(
    "text", ["(", "$x(", "[", "{", "$a->b(", "A::b(", "\\a", "->b", "->b()", "::b()", " . $a", "fn() => ", "$x = ["]
)
def test_deep_nesting_in_code_is_no_reason_to_fail(text: str) -> None:
    assert 0 <= PHP.extract(f"<?php $a{text * 20_000}", "a.php", {}).unparsable <= 1
    assert 0 <= PHP.extract(f"<?php {text * 20_000}", "a.php", {}).unparsable <= 1


def test_outside_php_tags_there_is_nothing() -> None:
    assert not tokens("if ($a) { return foo(); }")


def test_keywords_are_found_in_any_case() -> None:
    found = [t.text for t in tokens("<?php IF (True) { Return NULL; }") if t.properties.kind == Kind.KEYWORD]
    assert found == ["IF", "True", "Return", "NULL"]


def test_names_may_be_in_any_script() -> None:
    (token,) = tokens("<?php $größe = 1; /* é */ $größe;")
    assert (token.text, token.offset) == ("größe", 27)


def test_each_namespace_of_a_file_has_its_own_imports() -> None:
    text = "<?php namespace A { use X\\Y; new Y; } namespace B { new Y; }"
    assert [t.properties.package for t in tokens(text) if t.properties.kind == Kind.TYPE_REFERENCE] == ["X", "B"]


def test_a_closure_does_not_see_the_variables_around_it_but_an_arrow_function_does() -> None:
    closure = tokens("<?php function f($a) { return function () { $a = 1; }; }")
    arrow = tokens("<?php function f($a) { return fn() => $a = 1; }")
    assert [t.text for t in closure if t.properties.kind == Kind.VARIABLE] == []
    assert [t.text for t in arrow if t.properties.kind == Kind.VARIABLE] == ["a"]


def test_a_file_declares_what_stands_at_its_margin() -> None:
    text = "<?php\nnamespace A\\B;\nfinal class C {\n    function d() {}\n}\nfunction &e() {}\nconst F = 1;\n"
    assert PHP.declare is not None
    assert PHP.declare(text, "a.php") == ("A\\B", frozenset(["C", "e", "F"]))


def test_an_import_is_there_if_a_file_declares_its_name_or_namespace(tmp_path: Path) -> None:
    files = {
        "lib/Book__php": "<?php\nnamespace Acme\\Core;\n\nfinal class Book {}\nfunction open() {}\n",
        "vendor/log/log/src/Log__php": "<?php\nnamespace Psr\\Log;\ninterface Logger {}\n",
    }
    root = write(tmp_path, **files)
    text = (
        "<?php\nuse Exception;\nuse \\acme\\core\\Book as B;\nuse Acme\\Core;\nuse function Acme\\Core\\open;\n"
        "use Psr\\Log\\{Logger, NoLogger as None};\nuse Symfony\\Component\\Yaml\\Yaml;\nuse of these words\n"
        "$f = function () use ($a) {};\n"
    )
    imports = PHP.imports
    assert imports
    assert list(imports(root, None)("a.php", text)) == [
        ("Exception", True),
        ("acme\\core", True),
        ("Acme\\Core", True),
        ("Acme\\Core", True),
        ("Psr\\Log", True),
        ("Psr\\Log", False),
        ("Symfony\\Component", False),
    ]


def test_unclosed_groups_are_read_in_linear_time(tmp_path: Path) -> None:
    """With a quadratic pattern this would take minutes."""
    check = languages.CATALOG.load("php").imports
    assert check
    assert list(check(tmp_path, None)("a.php", "<?php\n" + "use a{\n" * 50_000)) == []
