"""Imports of Go are read and taken out."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.grammar.importing import count_errors
from ci_eval.core.grammar.importing.go import SYNTAX
from ci_eval.core.import_syntax import Project

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
