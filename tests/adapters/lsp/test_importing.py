"""Edits elsewhere in the file come with the list, or one by one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.contracts import WORD
from ci_eval.core.model import Suggestion
from ci_eval.plugins.adapters.lsp.completion import Question, offers
from ci_eval.plugins.adapters.lsp.importing import Resolve, add_edits
from ci_eval.plugins.adapters.lsp.protocol import read_answer

TEXT = "\U00010400 = 1\nx = Bo\n"
EDIT = {
    "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}},
    "newText": "from goods import Box\n",
}
LAST = {"range": {"start": {"line": 9, "character": 0}, "end": {"line": 9, "character": 0}}, "newText": "!"}


def edits_of(answer: Any, resolve: Resolve | None = None, name: str = "Box") -> list[Any]:
    items = read_answer(msgspec.json.encode(answer))
    offered = offers(items, Question(TEXT, len(TEXT) - 1, "Bo", "utf-16"), WORD)
    return [suggestion.edits for suggestion in add_edits(offered, items, TEXT, "utf-16", name, resolve)]


def test_edits_in_the_list_count_code_points() -> None:
    answer = [
        {"label": "Bo", "additionalTextEdits": [EDIT]},
        {"label": "Box", "additionalTextEdits": [EDIT, LAST]},
        {"label": "Box"},
    ]
    box = ((1, 1, EDIT["newText"]), (len(TEXT), 0, "!"))
    assert edits_of(answer) == [box[:1], box, ()]
    assert edits_of(answer, name="") == [box[:1], box, None]


def test_items_that_cannot_be_read_do_not_move_the_others() -> None:
    answer = {"items": [{"label": 5}, {"label": "Bo"}, {"label": "Box", "additionalTextEdits": [EDIT]}]}
    assert edits_of(answer) == [None, ((1, 1, EDIT["newText"]),)]


def test_only_items_of_the_name_are_resolved_with_the_data_that_they_share() -> None:
    asked: list[Any] = []

    def resolve(item: dict[str, Any]) -> Any:
        asked.append(item)
        return {**item, "additionalTextEdits": [EDIT]}

    answer = {
        "isIncomplete": False,
        "itemDefaults": {"data": 7},
        "items": [{"label": "Bo"}, {"label": "Box"}, {"label": "Box", "data": 8}],
    }
    assert edits_of(answer, resolve) == [None, *[((1, 1, EDIT["newText"]),)] * 2]
    assert asked == [{"label": "Box", "data": 7}, {"label": "Box", "data": 8}]


@pytest.mark.parametrize("wrong", [5, [{"range": 5, "newText": ""}], [{"range": {"start": {}, "end": {}}}]])
def test_edits_that_cannot_be_read_cost_their_item(wrong: Any) -> None:
    answer = [{"label": "Box", "additionalTextEdits": wrong}, {"label": "Box", "additionalTextEdits": [EDIT]}]
    assert edits_of(answer) == [((1, 1, EDIT["newText"]),)]
    assert read_answer(msgspec.json.encode(answer)).dropped == 1
    with pytest.raises(EngineRaised, match="the edits of 'Box' cannot be read"):
        edits_of([{"label": "Box"}], lambda _: answer[0])


def test_an_answer_without_the_name_is_not_read_again() -> None:
    answer = read_answer(b"[]")
    answer.source = b"no JSON"
    assert add_edits([Suggestion(text="Bo")], answer, TEXT, "utf-16", "Box") == [Suggestion(text="Bo")]
