"""Lists of servers that do not keep to the protocol."""

from __future__ import annotations

import msgspec
import pytest

from ci_eval.core.contracts import Query
from ci_eval.plugins.adapters.lsp.protocol import (
    UNREADABLE,
    Encoding,
    find_position,
    language_id,
    offset_in_line,
    read_answer,
    width,
)
from tests.adapters.lsp.conftest import TEXT, Start

NULLS = dict.fromkeys(
    ("kind", "filterText", "sortText", "insertText", "textEdit", "textEditText", "insertTextFormat", "preselect")
)

FLOATS = {"line": 0.0, "character": 1.0}


def labels(answer: object) -> tuple[list[str], int]:
    read = read_answer(msgspec.json.encode(answer))
    return [item.label for item in read.items], read.dropped


@pytest.mark.parametrize(
    "odd",
    [
        NULLS,
        {"kind": 6.0, "insertTextFormat": 2.0},
        {"kind": 99},
        {"kind": "function"},
        {"preselect": "yes"},
        {"insertTextFormat": {"a": 1}},
        {"documentation": None, "tags": None, "unknown": [1]},
        {
            "textEdit": {
                "newText": "a",
                "range": {"start": {"line": 0.0, "character": 1.0}, "end": {"line": 0, "character": 1}},
            }
        },
    ],
)
def test_an_odd_item_is_an_item(odd: dict[str, object]) -> None:
    assert labels([{"label": "a"} | odd, {"label": "b"}]) == (["a", "b"], 0)
    assert labels({"items": [{"label": "a"} | odd], "isIncomplete": None, "itemDefaults": None}) == (["a"], 0)


@pytest.mark.parametrize(
    "bad", [None, 5, "text", [], {}, {"label": None}, {"label": 5}, {"label": "a", "textEdit": {"newText": 5}}]
)
def test_a_bad_item_is_dropped_and_counted(bad: object) -> None:
    assert labels([{"label": "a"}, bad, {"label": "b"}]) == (["a", "b"], 1)


def test_null_is_an_empty_list() -> None:
    assert labels(None) == ([], 0)
    assert labels({"items": None}) == ([], 0)


@pytest.mark.parametrize("answer", [5, "text", True, {"items": 5}, [{"label": 17}], {"items": [None]}])
def test_what_is_no_list_is_unreadable(answer: object) -> None:
    with pytest.raises(UNREADABLE):
        labels(answer)


@pytest.mark.parametrize(
    ("path", "language", "expected"),
    [
        ("src/App.tsx", "typescript", "typescriptreact"),
        ("a.ts", "typescript", "typescript"),
        ("a.d.mts", "typescript", "typescript"),
        ("a.jsx", "javascript", "javascriptreact"),
        ("a.cjs", "javascript", "javascript"),
        ("a/b.h", "cpp", "cpp"),
        ("b.c", "cpp", "c"),
        ("run.sh", "text", "shellscript"),
        ("App.VUE", "text", "vue"),
        ("notes.unknown", "text", "text"),
        ("Makefile", "text", "text"),
    ],
)
def test_the_suffix_decides(path: str, language: str, expected: str) -> None:
    assert language_id(path, language) == expected


def test_the_caret_is_told_in_the_units_of_the_server(start: Start) -> None:
    for encoding in ("utf-8", "utf-16", "utf-32"):
        server = start(encoding)
        server.open("a.py", TEXT)
        answer = server.complete(Query(offset=11, prefix="", expected=""))
        assert {found.sort_text for found in answer.suggestions} == {"0011"}


@pytest.mark.parametrize(("encoding", "width_of_line"), [("utf-8", 9), ("utf-16", 6), ("utf-32", 5)])
def test_a_place_comes_back_whatever_the_units(encoding: Encoding, width_of_line: int) -> None:
    text = "one\naé\U0001f600b \nend"
    line = text.splitlines()[1]
    assert width(line, encoding) == width_of_line
    for offset in range(4, 4 + len(line) + 1):
        place = find_position(text, offset, encoding)
        assert place.line == 1
        assert offset_in_line(line, place.character, encoding) == offset - 4


def test_a_place_outside_or_inside_of_a_character_is_at_its_edge() -> None:
    assert [offset_in_line("a\U0001f600", character, "utf-16") for character in (-3, 2, 99)] == [0, 1, 2]
    assert [offset_in_line("ab", character, "utf-16") for character in (-3, 99)] == [0, 2]
