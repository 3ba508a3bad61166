"""What is special about TypeScript and JavaScript: elements of JSX, files of one line."""

from __future__ import annotations

import pytest

from ci_eval.core.catalogs import languages

JSX = "const view = <Panel title={name}><div onClick={run}>text</div><ns.Part {...rest} /></Panel>;\n"


@pytest.mark.parametrize(("name", "path"), [("typescript", "a.tsx"), ("javascript", "a.jsx")])
def test_components_are_names_and_elements_of_html_are_not(name: str, path: str) -> None:
    found = languages.CATALOG.load(name).extract(JSX, path, {})
    named = [(token.text, token.properties.kind.value) for token in found.tokens if token.properties.kind != "KEYWORD"]
    assert named == [
        ("Panel", "VARIABLE"),
        ("title", "ARGUMENT_NAME"),
        ("name", "VARIABLE"),
        ("onClick", "ARGUMENT_NAME"),
        ("run", "VARIABLE"),
        ("ns", "VARIABLE"),
        ("Part", "FIELD"),
        ("rest", "VARIABLE"),
        ("Panel", "VARIABLE"),
    ]


def test_angle_brackets_are_casts_where_there_are_no_elements() -> None:
    found = languages.CATALOG.load("typescript").extract("const a = <Panel>b;\n", "a.ts", {})
    assert [token.properties.kind.value for token in found.tokens] == ["KEYWORD", "TYPE_REFERENCE", "VARIABLE"]


@pytest.mark.parametrize("name", ["typescript", "javascript"])
def test_a_minified_file_is_one_long_line_and_no_trouble(name: str) -> None:
    text = "!function(e){" + "e.exports=function(t){return t.a(e)};" * 5_000 + "}(this);"
    assert len(languages.CATALOG.load(name).extract(text, "a.min.js", {}).tokens) > 30_000


def test_members_are_created_once_in_each_block() -> None:
    text = "{ const o = {}; o.x = 1; o.x = 2; }\n" * 100
    tokens = languages.CATALOG.load("javascript").extract(text, "a.js", {}).tokens
    assert sum(token.text == "x" for token in tokens) == 100


def test_unique_symbol_is_two_keywords() -> None:
    tokens = languages.CATALOG.load("typescript").extract("declare const a: unique symbol;\n", "a.ts", {}).tokens
    assert [token.text for token in tokens] == ["declare", "const", "unique", "symbol"]
    assert {token.properties.kind.value for token in tokens} == {"KEYWORD"}
