"""Lists of servers that do not keep to the protocol."""

from __future__ import annotations

import msgspec
import pytest

from ci_eval.plugins.adapters.lsp.answers import read_answer
from ci_eval.plugins.adapters.lsp.protocol import UNREADABLE

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
