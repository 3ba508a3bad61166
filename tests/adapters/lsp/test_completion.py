"""Answers become suggestions, whatever they hold."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.catalogs.languages import CATALOG as LANGUAGES
from ci_eval.core.contracts import WORD
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import REMOVED, REMOVED_BEFORE, Offer
from ci_eval.plugins.adapters.lsp.completion import (
    Question,
    Resolve,
    add_edits,
    drop_hidden_types,
    expand,
    find_word,
    settle_ties,
)
from ci_eval.plugins.adapters.lsp.protocol import UNREADABLE, Encoding, read_answer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


NUMBERS = st.sampled_from([0, 1, 2, -1, -9, 10**6, -(2**63), 2**64]) | st.integers(0, 9)


def some(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """An object with some of the fields, and now and then something else in its place."""
    return st.fixed_dictionaries({}, optional=fields) | st.fixed_dictionaries(fields) | JSON


PLACES = some(line=NUMBERS, character=NUMBERS)


RANGES = some(start=PLACES, end=PLACES)


WORDS = st.text("ab$\\.\U00010400é ", max_size=6)


EDITS = some(newText=WORDS, range=RANGES, insert=RANGES, replace=RANGES)


ITEMS = some(label=WORDS, kind=NUMBERS, filterText=WORDS, insertText=WORDS, textEdit=EDITS, insertTextFormat=NUMBERS)


DEFAULTS = some(editRange=some(start=PLACES, end=PLACES, insert=RANGES), insertTextFormat=NUMBERS)


ANSWERS = some(items=st.lists(ITEMS, max_size=3), isIncomplete=st.booleans(), itemDefaults=DEFAULTS) | st.lists(ITEMS)


@given(answer=ANSWERS, encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_whatever_an_answer_holds_it_is_unreadable_or_suggestions(answer: object, encoding: Encoding) -> None:
    text = "ab\n𐐀é $ab.a\n"
    try:
        decoded = read_answer(msgspec.json.encode(answer))
    except UNREADABLE:
        return
    found = Question(text, len(text) - 1, "a", encoding, "php").offers(decoded, WORD)
    assert all(each.text for each in found)


def offered(item: dict[str, object], line: str, *, prefix: str = "", language: str = "python", since: int = 0) -> Offer:
    """The offer of an item at `|` in a line."""
    caret = line.index("|")
    question = Question(line.replace("|", ""), caret, prefix, "utf-16", language, since=since)
    offer = question.offers(read_answer(msgspec.json.encode([item])), LANGUAGES.load(language).word)[0]
    assert isinstance(offer, Offer)
    return offer


def edit(new: str, begin: int, end: int) -> dict[str, object]:
    return {"newText": new, "range": {"start": {"line": 0, "character": begin}, "end": {"line": 0, "character": end}}}


@pytest.mark.parametrize(
    ("language", "line", "label", "prefix", "text"),
    [
        ("typescript", "x.v|", "value$", "v", "value$"),
        ("typescript", "x.|", "el$x", "", "el$x"),
        ("typescript", "this.#p|", "#private", "#p", "#private"),
        ("javascript", "|", "$scope", "", "$scope"),
        ("ruby", "x.n|", "nil?", "n", "nil?"),
        ("ruby", "x.|", "save!", "", "save!"),
        ("php", "$n|", "$name", "n", "name"),
        ("php", "$|", "$name", "", "name"),
        ("java", "x.|", "a$b", "", "a$b"),
        ("python", "x.t|", "type_", "t", "type_"),
    ],
)
def test_names_are_those_of_the_language(language: str, line: str, label: str, prefix: str, text: str) -> None:
    offer = offered({"label": label}, line, prefix=prefix, language=language)
    assert (offer.text, offer.tail) == (text, "")


def test_what_acceptance_leaves_is_a_name_and_a_tail() -> None:
    keyword = offered({"label": "environ="}, "f(en|)", prefix="en")
    assert (keyword.text, keyword.tail, keyword.firm) == ("environ", "=", 1)
    call = offered({"label": "join(…)", "insertText": "join(${1:parts})$0", "insertTextFormat": 2}, "os.|")
    assert (call.text, call.tail, call.firm) == ("join", "(parts)", 1)
    empty = offered({"label": "go()", "insertText": "go()$0", "insertTextFormat": 2}, "os.|")
    assert (empty.text, empty.tail, empty.firm) == ("go", "()", 2)


def test_a_qualified_name_is_no_name_unless_the_label_begins_with_it() -> None:
    item: dict[str, object] = {"label": "vector", "insertText": "std::vector<$0>", "insertTextFormat": 2}
    assert offered(item, "v|", prefix="v").text == "std::vector<>"
    assert offered(item | {"label": "std::vector"}, "v|", prefix="v").text == "std"


def test_a_range_says_what_is_replaced() -> None:
    assert offered({"label": "total", "textEdit": edit(".total", 1, 3)}, "x.t|", prefix="t").text == "total"
    eaten = offered({"label": "total", "textEdit": edit("total", 1, 3)}, "x.t|", prefix="t")
    assert (eaten.text, eaten.tail, eaten.begin) == ("total", f"{REMOVED_BEFORE}.", -1)
    again = offered({"label": "path", "textEdit": edit("path)", 3, 5)}, "os.p|)", prefix="p")
    assert (again.text, again.tail) == ("path", "")
    behind = offered({"label": "path", "textEdit": edit("path", 3, 5)}, "os.p|)", prefix="p")
    assert (behind.text, behind.tail) == ("path", f"{REMOVED})")
    appended = offered({"label": "path", "textEdit": edit("path", 5, 5)}, "os.pa|", prefix="pa")
    assert appended.text == "papath"


def test_a_range_on_another_line_is_not_shown() -> None:
    elsewhere = {"newText": "x", "range": {"start": POSITION, "end": POSITION}}
    assert not offered({"label": "x", "textEdit": elsewhere}, "a|").visible


POSITION = {"line": 1, "character": 0}


def test_a_list_that_is_kept_has_the_ranges_of_when_it_was_asked_for() -> None:
    kept = offered({"label": "total", "textEdit": edit("total", 2, 2)}, "x.to|)", prefix="to", since=2)
    assert (kept.text, kept.tail, kept.begin) == ("total", "", 0)


def test_a_class_is_hidden_by_a_function_a_variable_or_an_alias_of_its_name() -> None:
    kinds = {"stat": ("struct", "function", "struct"), "Slice": ("class", "constructor"), "size": ("variable",)}
    found = [Suggestion(text=text, kind=kind) for text, each in kinds.items() for kind in each]
    assert drop_hidden_types(found) == [found[1], *found[3:]]


def test_items_that_an_editor_orders_alike_stand_in_a_settled_order() -> None:
    def item(tail: str, sort: str = "1", label: str = "add") -> Suggestion:
        return Suggestion(text="add", tail=tail, label=label, sort_text=sort)

    listed = [item("(b)"), item("(z)", "2"), item("(a)"), item("(c)", label="other")]
    assert [offer.tail for offer in settle_ties(listed)] == ["(a)", "(z)", "(b)", "(c)"]
    assert settle_ties(listed[::-1])[-1] == item("(b)")
    edited = [replace(item("(a)"), edits=((0, 0, f"#include <{header}>\n"),)) for header in ("deque", "list")]
    assert settle_ties(edited[::-1]) == settle_ties(edited) == edited


@pytest.mark.parametrize(
    ("line", "language", "word"),
    [
        ("x.path|", "python", "path"),
        ("x.|", "python", ""),
        ("a b|c", "python", "b"),
        ("@iv|", "ruby", "iv"),
        ("$na|", "php", "$na"),
        ("$|", "php", "$"),
        ("$na|", "python", "na"),
        ("this.#pr|", "typescript", "#pr"),
        ("value$|", "typescriptreact", "value$"),
        ("x = 1.5f|", "cpp", "1.5f"),
        ("naïve_é|", "python", "naïve_é"),
        ("é😀a|", "python", "é😀a"),
        (f"{'a' * 40}|", "python", "a" * 40),
        (f"{'a ' * 600}bc|", "python", "bc"),
        ("|foo", "python", ""),
    ],
)
def test_the_word_is_that_of_the_language(line: str, language: str, word: str) -> None:
    caret = line.index("|")
    assert line[find_word(line.replace("|", ""), caret, language)[0] : caret] == word


@pytest.mark.parametrize(
    ("line", "language", "rest"),
    [
        ("x.pa|th(1)", "python", "th"),
        ("x.|", "python", ""),
        ("this.#p|r$;", "typescript", "r$"),
        ("x.|path", "go", "path"),
    ],
)
def test_the_word_goes_on_behind_the_caret(line: str, language: str, rest: str) -> None:
    caret = line.index("|")
    text = line.replace("|", "")
    assert text[caret : find_word(text, caret, language)[1]] == rest


@pytest.mark.parametrize(
    ("snippet", "text", "firm"),
    [
        ("name", "name", 4),
        ("join(${1:parts})$0", "join(parts)", 5),
        ("go()$0", "go()", 4),
        ("value\\$", "value$", 6),
        ("a\\}b\\\\c\\d", "a}b\\c\\d", 7),
        ("${1|one,t\\,wo|}x", "onex", 0),
        ("${1:a${2:b}}c", "abc", 0),
        ("f(${TM_FILENAME:x}, $1)", "f(x, )", 5),
        ("el$x", "el", 2),
        ("x ${1/(.*)/\\U$1/g} y", "x  y", 2),
        ("cost $ 5 ${", "cost $ 5 ${", 11),
        ("${1:open", "${1:open", 8),
        ("a${1:b${2:c}d", "a${1:bcd", 6),
        ("${X:b$1}", "b", 1),
    ],
)
def test_placeholders_leave_their_default_text(snippet: str, text: str, firm: int) -> None:
    """As VS Code's SnippetParser 0.52.2 has it."""
    assert expand(snippet) == (text, firm)


@given(st.text("a$\\{}:|1,/ "))
def test_every_text_can_be_expanded(snippet: str) -> None:
    text, firm = expand(snippet)
    assert 0 <= firm <= len(text) <= len(snippet)


HOSTILE: dict[str, Callable[[int], str]] = {
    "unclosed": lambda times: "${1:" * times,
    "nested": lambda times: "${1:" * times + "x" + "}" * times,
    "formats of an unclosed transform": lambda times: "${1/a/" + "${a}" * times,
    "unclosed formats": lambda times: "${1/x/" + "${" * times,
    "unclosed transforms": lambda times: "${1/x/" * times,
    "transforms in a format": lambda times: "${1/x/" + "${1/}" * times,
    "unclosed choices": lambda times: "${1|a," * times,
    "choices": lambda times: "${1|" + "a\\|," * times,
    "variables": lambda times: "${x:$y" * times,
    "escapes": lambda times: "\\$" * times,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_snippet_of_twice_the_length_takes_at_most_about_twice_the_time(name: str) -> None:
    short, long = (min(_seconds(HOSTILE[name](times)) for _ in range(3)) for times in (1500, 3000))
    assert long < 4 * short + 0.02


@pytest.mark.slow
def test_a_hundred_thousand_random_snippets_and_a_thousand_nested_ones_are_fast() -> None:
    signs, choice = (
        ["a", "$", "\\", "{", "}", "|", ",", "/", ":", "$1", "${1:", "${x:", "${1|", "|}", "${1/"],
        random.Random(4),
    )
    snippets = ["".join(choice.choices(signs, k=choice.randrange(30))) for _ in range(100_000)]
    snippets += ["".join(choice.choices(signs[10:], k=5)) * choice.randrange(1000) for _ in range(1000)]
    assert [snippet for snippet in snippets if _seconds(snippet) > 0.05 and _seconds(snippet) > 0.05] == []


def test_a_snippet_longer_than_any_that_a_server_sends_is_text() -> None:
    assert expand("$1" * 20_000) == ("$1" * 20_000, 40_000)


def _seconds(snippet: str) -> float:
    """Return the processor's time, which other processes do not lengthen."""
    began = time.process_time()
    expand(snippet)
    return time.process_time() - began


TEXT = "\U00010400 = 1\nx = Bo\n"
IMPORT = {
    "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}},
    "newText": "from goods import Box\n",
}
LAST = {"range": {"start": {"line": 9, "character": 0}, "end": {"line": 9, "character": 0}}, "newText": "!"}


def edits_of(answer: Any, resolve: Resolve | None = None, name: str = "Box") -> list[Any]:
    items = read_answer(msgspec.json.encode(answer))
    offered = Question(TEXT, len(TEXT) - 1, "Bo", "utf-16").offers(items, WORD)
    return [suggestion.edits for suggestion in add_edits(offered, items, TEXT, "utf-16", [name], resolve)]


def test_edits_in_the_list_count_code_points() -> None:
    answer = [
        {"label": "Bo", "additionalTextEdits": [IMPORT]},
        {"label": "Box", "additionalTextEdits": [IMPORT, LAST]},
        {"label": "Box"},
    ]
    box = ((1, 1, IMPORT["newText"]), (len(TEXT), 0, "!"))
    assert edits_of(answer) == [box[:1], box, ()]
    assert edits_of(answer, name="") == [box[:1], box, None]


def test_items_that_cannot_be_read_do_not_move_the_others() -> None:
    answer = {"items": [{"label": 5}, {"label": "Bo"}, {"label": "Box", "additionalTextEdits": [IMPORT]}]}
    assert edits_of(answer) == [None, ((1, 1, IMPORT["newText"]),)]


def test_only_items_of_the_name_are_resolved_with_the_data_that_they_share() -> None:
    asked: list[Any] = []

    def resolve(item: dict[str, Any]) -> Any:
        asked.append(item)
        return {**item, "additionalTextEdits": [IMPORT]}

    answer = {
        "isIncomplete": False,
        "itemDefaults": {"data": 7},
        "items": [{"label": "Bo"}, {"label": "Box"}, {"label": "Box", "data": 8}],
    }
    assert edits_of(answer, resolve) == [None, *[((1, 1, IMPORT["newText"]),)] * 2]
    assert asked == [{"label": "Box", "data": 7}, {"label": "Box", "data": 8}]


@pytest.mark.parametrize("wrong", [5, [{"range": 5, "newText": ""}], [{"range": {"start": {}, "end": {}}}]])
def test_edits_that_cannot_be_read_cost_their_item(wrong: Any) -> None:
    answer = [{"label": "Box", "additionalTextEdits": wrong}, {"label": "Box", "additionalTextEdits": [IMPORT]}]
    assert edits_of(answer) == [((1, 1, IMPORT["newText"]),)]
    assert read_answer(msgspec.json.encode(answer)).dropped == 1
    with pytest.raises(EngineRaised, match="the edits of 'Box' cannot be read"):
        edits_of([{"label": "Box"}], lambda _: answer[0])


def test_an_answer_without_the_name_is_not_read_again() -> None:
    answer = read_answer(b"[]")
    answer.source = b"no JSON"
    assert add_edits([Suggestion(text="Bo")], answer, TEXT, "utf-16", ["Box"]) == [Suggestion(text="Bo")]
