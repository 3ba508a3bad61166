"""Where completion engines are asked about query cases."""

from __future__ import annotations

import zlib
from base64 import b64encode
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from msgspec.structs import replace as with_values

from ci_eval.core.model import CallPlace, Caret, History, ObjectPlace, ObjectUsage
from ci_eval.core.model.settings import StrategyName
from ci_eval.core.queries.carets import (
    LARGEST,
    Texts,
    apply_edits,
    check_places,
    hash_text,
    is_text,
    locate_caret,
    pack_text,
)
from ci_eval.core.queries.cases import STRATEGIES, QueryCase, Sampling, generate_cases
from ci_eval.plugins.mining.usages.dialect import ProjectContext
from ci_eval.plugins.mining.usages.languages import CATALOG
from ci_eval.plugins.mining.usages.texts import mine

HEAD = "from a import Box\ndef f():\n"


def state(body: str) -> tuple[ObjectUsage, ObjectPlace, str]:
    """Of a.Box in that method."""
    text = HEAD + body
    mined = mine(text, "shop.py", CATALOG.load("python"), ProjectContext(places=True))
    (each,) = [each for each in mined.usages if each.usage.type == "a.Box"]
    assert each.place
    return each.usage, with_values(each.place, text=hash_text(text)), text


def case(start: str, goal: str) -> tuple[QueryCase, dict[str, str]]:
    """From one body to another; digest → text."""
    states = [state(body) for body in (start, goal)]
    history = History(
        file="shop.py", type="a.Box",
        states=tuple(usage for usage, _, _ in states), places=tuple(place for _, place, _ in states),
    )  # fmt: skip
    return next(generate_cases(history, "last")), {place.text: text for _, place, text in states}


def seen(strategy: StrategyName, start: str, goal: str) -> list[str]:
    """The texts with a bar at the caret, without what comes before the method's body."""
    made, texts = case(start, goal)
    marked = []
    for query in STRATEGIES[strategy](made, Sampling()):
        caret = locate_caret(made, strategy, query)
        assert caret
        text = apply_edits(texts[caret.text], caret)
        marked.append((text[: caret.offset] + "|" + text[caret.offset :]).removeprefix(HEAD))
    return marked


START = "    b = Box()\n    b.c()\n    b.x()\n"
GOAL = "    b = Box()\n    b.a()\n    if b.b():\n        b.c()\n    d()\n"


def test_as_the_code_was_the_call_is_begun_in_the_text_of_the_start() -> None:
    assert seen("REAL", START, GOAL) == ["    b = Box()\n    b.c()\n    b.x()\n    b.|\n"]


def test_a_query_that_is_made_up_is_the_goal_without_what_it_lacks() -> None:
    assert seen("REAL*", START, GOAL) == ["    b = Box()\n    b.|\n    \n    if b:\n        b.c()\n    d()\n"]
    assert seen("LINEAR", START, GOAL) == ["    b = Box()\n    b.a()\n    b.|\n    if b:\n        b\n    d()\n"]


def test_each_choice_of_random_has_a_text_of_its_own() -> None:
    assert seen("RANDOM", START, GOAL) == [
        "    b = Box()\n    b.a()\n    b.|\n    if b:\n        b\n    d()\n",
        "    b = Box()\n    b.|\n    \n    if b.b():\n        b\n    d()\n",
        "    b = Box()\n    b.|\n    \n    if b:\n        b.c()\n    d()\n",
    ]


def test_a_statement_with_a_call_that_stays_loses_the_others_alone() -> None:
    goal = "    b = Box()\n    x = b.a(b.c(), b.e(b.a()))\n"
    assert seen("REAL*", START, goal) == ["    b = Box()\n    b.|\n    x = b\n"]
    goal = "    b = Box()\n    x = b.c(b.a())\n"
    assert seen("REAL*", START, goal) == ["    b = Box()\n    b.|\n    x = b.c(b)\n"]


def test_a_call_on_what_has_no_name_cannot_be_begun() -> None:
    made, _ = case(START, "    b = Box()\n    b.c()\n    Box().a()\n")
    (query,) = STRATEGIES["REAL*"](made, Sampling())
    assert locate_caret(made, "REAL*", query) is None


def test_an_object_that_is_not_there_yet_has_no_place() -> None:
    made, _ = case(START, GOAL)
    new = replace(made, start=None, history=with_values(made.history, places=(None, made.history.places[1])))
    asked = {name: locate_caret(new, name, STRATEGIES[name](new, Sampling())[0]) for name in STRATEGIES}
    assert [name for name, caret in asked.items() if caret is None] == ["REAL"]
    known = replace(made, history=with_values(made.history, places=()))
    assert all(locate_caret(known, name, STRATEGIES[name](known, Sampling())[0]) is None for name in STRATEGIES)


PLACE = ObjectPlace(text="d", receiver="b", line=3, calls=(CallPlace(name="a", begin=1, end=2, statement=(0, 2)),))
BAD = [
    (with_values(PLACE, line=9), "0 to 9 is not in a text of 5"),
    (with_values(PLACE, receiver=""), "no receiver"),
    (with_values(PLACE, receiver="b\nc"), "not the name of an object"),
    (with_values(PLACE, receiver="b" * 300), "not the name of an object"),
    (with_values(PLACE, indent="  x"), "not an indentation"),
    (with_values(PLACE, calls=(CallPlace(name="a", begin=2, end=1),)), "2 to 1 is not"),
    (with_values(PLACE, calls=(CallPlace(name="a", begin=0, end=1, statement=(0, 9)),)), "0 to 9 is not"),
    (with_values(PLACE, calls=(CallPlace(name="a", begin=0, end=1, line=9),)), "0 to 9 is not"),
    (with_values(PLACE, text="e"), "no text"),
]


def history(*places: ObjectPlace | None, file: str = "a.py") -> History:
    return History(file=file, type="T", states=(None, ObjectUsage(type="T", calls=("a",))), places=places)


def text_of(digest: str) -> str:
    if digest != "d":
        raise ValueError("no text")
    return "abcde"


@pytest.mark.parametrize(("bad", "why"), BAD)
def test_a_place_that_cannot_be_says_why(bad: ObjectPlace, why: str) -> None:
    assert why in check_places(history(None, bad), text_of)


def test_places_are_of_states_and_of_a_file_of_the_project() -> None:
    assert check_places(history(None, PLACE), text_of) == ""
    assert "2 states, and places for 1" in check_places(history(PLACE), text_of)
    for path in ("", "/etc/passwd", "../a.py", "a\\b.py"):
        assert "not the path of a file" in check_places(history(None, PLACE, file=path), text_of)


offsets = st.integers(0, 20)
spans = st.tuples(offsets, offsets).map(lambda pair: (min(pair), max(pair)))


@st.composite
def hostile(draw: st.DrawFn) -> CallPlace:
    begin, end = draw(spans)
    statement, line = draw(st.none() | spans), draw(st.none() | offsets)
    name = draw(st.sampled_from("abc"))
    return CallPlace(name=name, receiver="b", begin=begin, end=end, statement=statement, line=line)


@given(st.lists(hostile(), max_size=6), st.sets(st.sampled_from("abc")))
def test_whatever_places_say_the_caret_is_behind_the_receiver(calls: list[CallPlace], kept: set[str]) -> None:
    text = "0123456789abcdefghij"
    place = ObjectPlace(text="d", receiver="b", line=20, calls=tuple(calls))
    end = ObjectUsage(type="T", calls=tuple("abc"))
    of = History(file="a.py", type="T", states=(None, end), places=(None, place))
    made = QueryCase(of, 0, None, end, 1)
    caret: Caret | None = locate_caret(made, "REAL*", with_values(end, calls=tuple(sorted(kept))))
    if caret:
        assert apply_edits(text, caret)[: caret.offset].endswith("\nb.")


def line(text: str) -> dict[str, object]:
    fields: dict[str, object] = msgspec.json.decode(msgspec.json.encode(pack_text(text)))
    return fields


def texts(*lines: object) -> Texts:
    fields = Texts()
    for each in lines:
        fields.add(each)
    return fields


def packed(data: bytes, digest: str = "") -> dict[str, object]:
    return {"text": digest or sha256(data).hexdigest(), "packed": b64encode(zlib.compress(data)).decode()}


@pytest.mark.parametrize("text", ["", "a = 1\n", "é\U0001f600\n" * 1000])
def test_a_text_is_found_by_its_digest(text: str) -> None:
    assert texts({"type": "T"}, line(text), "no JSON").get(hash_text(text)) == text


def test_what_no_utf_8_has_keeps_its_place() -> None:
    assert texts(line("a\ud800b")).get(hash_text("a\ud800b")) == "a?b"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (packed(b"a" * (LARGEST + 1)), "more than 1,000,000"),
        (packed(b"\xff"), "damaged: 'utf-8'"),
        (packed(b"a", "0" * 64), "digest"),
        (packed(b"a") | {"packed": "AAAA"}, "damaged: Error"),
        (packed(b"a") | {"packed": "é"}, "has no text"),
        (packed(b"a") | {"packed": 1}, "has no text"),
        ({"packed": ""}, "has no text"),
    ],
)
def test_a_bad_text_says_what_is_wrong(bad: dict[str, object], why: str) -> None:
    assert is_text(bad)
    with pytest.raises(ValueError, match=why):
        texts(bad).get(str(bad.get("text", "f" * 64)))
