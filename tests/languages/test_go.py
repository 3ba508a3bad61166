"""What is special about Go."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.grammar.parsing import count_errors
from ci_eval.core.import_syntax import Project
from ci_eval.plugins.languages.go import LANGUAGE
from ci_eval.plugins.languages.go.packages import SYNTAX, declare, imported_package, local_name
from tests.languages.there import shares
from tests.projects import write


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("fmt", "fmt"),
        ("net/http", "http"),
        ("example.com/flag/v2", "flag"),
        ("gopkg.in/yaml.v3", "yaml"),
        ("example.com/go-isatty", "isatty"),
        ("example.com/nats.go", "nats"),
    ],
)
def test_a_package_is_called_like_the_end_of_its_path(path: str, name: str) -> None:
    assert local_name(path) == name


def test_an_import_that_ends_with_a_folder_of_the_project_is_the_project_s() -> None:
    declared = {"internal/store": frozenset(["Open"]), "errors": frozenset(["New"])}
    assert imported_package("example.com/acme/internal/store", declared) == "internal/store"
    assert imported_package("errors", declared) == "errors"
    (name, *_) = LANGUAGE.extract('package a\nimport "errors"\nvar x = errors.New', "b/a.go", {}).tokens[2:]
    assert (name.text, name.properties.location) == ("errors", "library")


def test_the_package_is_the_folder_or_the_clause_of_the_root() -> None:
    assert declare("package main\nfunc main() {}\n", "main.go") == ("main", frozenset(["main"]))
    assert declare("package b_test\n", "a/b/c_test.go") == ("a/b_test", frozenset())
    assert declare("package b\nvar (\n\tx, y = 1, 2\n)\ntype T int\n", "a/b/c.go") == (
        "a/b",
        frozenset(["x", "y", "T"]),
    )


def test_a_loop_without_names_has_its_keywords() -> None:
    tokens = LANGUAGE.extract("package p\nfunc f() { for range n { } }\n", "a.go", {}).tokens
    assert [token.text for token in tokens] == ["func", "for", "range", "n"]


TEXT = """package a

import "fmt"

import (
	"net/http"
	yes "go.yaml.in/yaml/v3"
	"gopkg.in/yaml.v3"
	_ "embed"
	"text/template" // not html
	"html/template"
)
"""


def test_packages_with_a_name_of_their_own_can_be_removed() -> None:
    imports = {item.name: item for item in SYNTAX.read(TEXT) if item.removable}
    assert {name: TEXT[item.begin : item.end] for name, item in imports.items()} == {
        "fmt": 'import "fmt"\n',
        "http": '\t"net/http"\n',
        "yaml": '\t"gopkg.in/yaml.v3"\n',
    }
    modules = [item.module for item in SYNTAX.read(TEXT)]
    assert modules[2:] == ["go.yaml.in/yaml/v3", "gopkg.in/yaml.v3", "embed", "text/template", "html/template"]


def test_a_package_is_its_path(tmp_path: Path) -> None:
    modules = SYNTAX.modules(Project(tmp_path, None))
    assert modules.origin("a.go", "text/template", "") != modules.origin("a.go", "html/template", "")
    assert modules.identify("a.go", "net/http") == modules.identify("b/c.go", "net/http")


def test_errors_are_what_the_grammar_cannot_read() -> None:
    assert count_errors(SYNTAX, TEXT, "go") == 0
    assert count_errors(SYNTAX, TEXT.replace("\n)", "\n"), "go") > 0


def test_a_package_of_go_is_in_a_module_that_is_there(tmp_path: Path) -> None:
    root = write(tmp_path / "p", **{"go__mod": "module example__com/me\n".replace("__", "."), "sub/a__go": ""})
    write(tmp_path / "e" / "modules" / "github.com" / "!burnt!sushi" / "toml@v1.0.0", **{"internal/a__go": ""})
    block = (
        '"fmt"\n\tx "example.com/me/sub"\n\t. "github.com/BurntSushi/toml"\n\t"github.com/BurntSushi/toml/internal"\n'
    )
    assert shares("go", root, "a.go", f'import "C"\nimport (\n\t{block})\n', tmp_path / "e") == [True] * 5
    wrong = 'import (\n"example.com/me/none"\n"github.com/x/y"\n"github.com/BurntSushi/toml/none")\n'
    assert shares("go", root, "a.go", wrong, tmp_path / "e") == [False] * 3
