"""Answers become suggestions, whatever they hold."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.adapters.lsp.completion import WORD, suggestions, without_hidden
from ci_eval.adapters.lsp.places import Encoding
from ci_eval.adapters.lsp.protocol import ANSWER, UNREADABLE
from ci_eval.model import Suggestion

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
        decoded = ANSWER.decode(msgspec.json.encode(answer))
    except UNREADABLE:
        return
    found = suggestions(decoded, text, len(text) - 1, "a", encoding, WORD)
    assert all(each.text for each in found)


def test_a_class_is_hidden_by_a_function_a_variable_or_an_alias_of_its_name() -> None:
    kinds = {"stat": ("struct", "function", "struct"), "Slice": ("class", "constructor"), "size": ("variable",)}
    found = [Suggestion(text=text, kind=kind) for text, each in kinds.items() for kind in each]
    assert without_hidden(found) == [found[1], *found[3:]]
