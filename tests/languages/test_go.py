"""What is special about Go."""

from __future__ import annotations

import pytest

from ci_eval.plugins.languages.go import LANGUAGE
from ci_eval.plugins.languages.go.names import declare, imported_package, local_name


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
