"""What is lost of a text is measured on its trees, and as little as possible is."""

from __future__ import annotations

import re

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.parsing import Repair, Rewritten, Search, lost_bytes, read
from ci_eval.core.grammar.syntax import parse_tree
from ci_eval.core.model import Kind
from ci_eval.plugins.languages import cpp, ecmascript, java, kotlin, php, python, rust, scala
from ci_eval.plugins.languages.ecmascript import SHARED
from ci_eval.plugins.languages.java import LANGUAGE as JAVA
from ci_eval.plugins.languages.kotlin import LANGUAGE as KOTLIN
from tests.languages.test_modern import blocks

REPAIRS = {
    **{
        module.__name__.rpartition(".")[2]: (module, "REPAIRS")
        for module in (cpp, java, kotlin, php, python, rust, scala)
    },
    "javascript": (ecmascript, "JAVASCRIPT"),
    "typescript": (ecmascript, "TYPESCRIPT"),
}
"""Language → the module and the name of its rewritings."""
HOSTILE = '( { [ < /* ` " \' \\ given is enum using import #if\n <<<A\n R"a( $a{get context( class \n<A = ,\n'.split(
    " "
)
DELEGATING = (
    "class A<E>(\n    private val b: B<E>\n) : D<E> by b {\n    constructor(v: E) : this() {\n        go(v)\n    }\n\n"
    "    val x: E get() = b.value\n}\n"
)


def names(language: object, text: str) -> list[str]:
    found = language.extract(text, "a", {}).tokens  # type: ignore[attr-defined]
    return [token.text for token in found if token.properties.kind != Kind.KEYWORD]


def test_a_text_without_errors_is_parsed_as_it_is() -> None:
    source = b"fun f(a: Int) = a + b\n"
    reading = read(source, "kotlin")
    assert reading.source is source
    assert reading.lost == 0


def test_what_stands_in_an_error_is_lost_also_where_no_walk_goes() -> None:
    assert read(b"class A(:\n    pass\n", "python").lost > 0


def test_a_member_that_cannot_be_read_does_not_take_the_class_with_it() -> None:
    text = "class A {\n    fun a(z: Int) = one(z)\n    fun broken(((( = }{ -> -> class\n    fun b(z: Int) = two(z)\n}\n"
    found = KOTLIN.extract(text, "a.kt", {})
    assert names(KOTLIN, text) == ["Int", "one", "z", "Int", "two", "z"]
    assert 0 < found.unparsable < 0.5


def test_a_class_that_delegates_is_no_call_with_a_lambda() -> None:
    text = DELEGATING
    found = KOTLIN.extract(text, "a.kt", {})
    assert found.unparsable == 0
    assert names(KOTLIN, text)[-4:] == ["v", "E", "b", "value"]
    assert ("by", Kind.KEYWORD) in {(token.text, token.properties.kind) for token in found.tokens}


def test_a_class_that_cannot_be_read_leaves_the_others() -> None:
    text = "class A {\n  void a( int {{ ) } ( -> ;\n}\n\nclass B {\n  void f(int z) { go(z); }\n}\n"
    assert names(JAVA, text)[-2:] == ["go", "z"]


def test_offsets_and_words_are_those_of_the_text_and_not_of_its_rewriting() -> None:
    text = "fun f(é: Any) = when (é) { is Cat if é.ok -> 1\n else -> 2 }\n"
    tokens = KOTLIN.extract(text, "a.kt", {}).tokens
    assert all(text[t.offset : t.offset + len(t.text)] == t.text for t in tokens)
    assert ("if", Kind.KEYWORD) in {(t.text, t.properties.kind) for t in tokens}


def test_a_rewriting_of_another_length_is_dropped() -> None:
    longer = Repair(re.compile(rb"(?P<k>b)"), lambda m: m[0] * 2)
    assert longer.apply(b"a b c") == (b"a b c", (), (), (), 0, "")


class Failing:
    always = True

    def apply(self, _source: bytes) -> Rewritten:
        raise IndexError("no such group")


class Longer:
    always = True

    def apply(self, source: bytes) -> Rewritten:
        return Rewritten(source + b" ")


@pytest.mark.parametrize(
    ("failing", "why"), [(Failing(), "no such group"), (Longer(), "changed the length of the text")]
)
def test_a_rewriting_that_fails_is_dropped_and_said(
    monkeypatch: pytest.MonkeyPatch, failing: Failing | Longer, why: str
) -> None:
    monkeypatch.setattr(kotlin, "REPAIRS", (failing, *getattr(*REPAIRS["kotlin"])))
    found = KOTLIN.extract("fun f(a: Any) = when (a) {\n    is Cat if a.ready -> 1\n    else -> 2\n}\n", "a.kt", {})
    assert [token.text for token in found.tokens if token.properties.kind != Kind.KEYWORD][-2:] == ["a", "ready"]
    assert found.unparsable == 0
    assert why in found.trouble


FUNCTIONS = {
    "kotlin": "class A{i} {{\n    fun f(a: Int): Int {{\n        go(a.x)\n{bad}        return a\n    }}\n}}\n\n",
    "python": "def f{i}(a, b):\n    x = a + b.size\n{bad}    return g(x).y\n\n",
    "ruby": "class A{i}\n  def f(a, b)\n    go(a.x)\n{bad}    a.b\n  end\nend\n\n",
    "rust": "fn f{i}(a: A) -> B {{\n    go(a.x);\n{bad}    g(a).y\n}}\n\n",
    "scala": "class A{i} {{\n  def f(a: Int): Int = {{\n    go(a.x)\n{bad}    a.y\n  }}\n}}\n\n",
    "php": "function f{i}($a) {{\n    go($a->x);\n{bad}    return $a->y;\n}}\n\n",
    "java": "class A{i} {{\n    int f(B a) {{\n        go(a.x);\n{bad}        return a.y;\n    }}\n}}\n\n",
}
"""Language → a part of a file, with a number and a place for a line that cannot be read."""
BAD = {
    "a bracket too few": "if (x) {",
    "a quote too few": 'foo("abc, x.y',
    "no code": "@@ ?? foo = ) baz(",
    "a sign too many": "x = = 1 + )",
}


@pytest.mark.parametrize("parts", [3, 200])
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_error_costs_its_statement(name: str, bad: str, parts: int) -> None:
    language, line = languages.CATALOG.load(name), BAD[bad]
    if bad == "a quote too few" and name == "php":
        # There a text has many lines, so this one ends at the next quote.
        line = "foo(1, $x->;"
    if bad == "a bracket too few":
        # In Python and Ruby, a bracket is no block without its end.
        line = {"python": "foo(", "ruby": "if x"}.get(name, line)
    bad = "        "[: 8 if name in {"java", "kotlin"} else 4] + line + "\n"
    head = "<?php\n" if name == "php" else ""
    texts = [
        head + "".join(FUNCTIONS[name].format(i=i, bad=line if i == parts // 2 else "") for i in range(parts))
        for line in ("", bad)
    ]
    clean, found = (language.extract(text, f"a{next(iter(language.grammars))}", {}) for text in texts)
    assert len(found.tokens) >= len(clean.tokens) - 2
    assert found.unparsable < 0.5 / parts


def test_one_of_many_statements_is_found_by_reading_the_text_about_once() -> None:
    text = "".join(FUNCTIONS["kotlin"].format(i=i, bad="        if (x) {\n" * (i == 300)) for i in range(600)).encode()
    read_bytes: list[int] = []

    def lost(code: bytes) -> int:
        read_bytes.append(len(code))
        return lost_bytes(parse_tree(code, "kotlin").root_node)

    assert [text[slice(*span)] for span in Search(text, text, b"", lost).unreadable()] == [b"        if (x) {\n"]
    assert sum(read_bytes) < 1.5 * len(text)


def test_what_is_lost_is_counted_in_words() -> None:
    found = KOTLIN.extract("fun a(z: Int) = one(z)\nfun broken(((( = }{ -> -> class\n", "a.kt", {})
    assert found.unparsable == pytest.approx(3 / 9)
    assert languages.CATALOG.load("php").extract("<?php\n$d = clone($obj, ['x' => 1]);\n", "a.php", {}).unparsable == 0


@pytest.mark.parametrize("name", sorted(REPAIRS))
def test_a_rewriting_keeps_the_length_of_any_text(name: str) -> None:
    for part in HOSTILE:
        source = (part + " ").encode() * 2_000
        for repair in getattr(*REPAIRS[name]):
            made = repair.apply(source)
            assert {len(source)} == {len(text) for text in (made.text, *made.layers)}


@pytest.mark.parametrize("name", sorted(REPAIRS))
def test_every_rewriting_is_needed_by_a_text_that_the_grammar_misreads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    language, repairs = languages.CATALOG.load(name), getattr(*REPAIRS[name])
    texts = [code if name != "php" else "<?php\n" + code for _, code, _ in blocks(name)]
    if name == "kotlin":
        texts.append(DELEGATING)
    before = [language.extract(text, "a", {}) for text in texts]
    needless = []
    shared = SHARED if name == "typescript" else ()
    for repair in repairs:
        if repair in shared:
            continue
        monkeypatch.setattr(*REPAIRS[name], tuple(other for other in repairs if other is not repair))
        if [language.extract(text, "a", {}) for text in texts] == before:
            needless.append(repairs.index(repair))
    assert not needless
