"""Places in a text, in the units of a server."""

from __future__ import annotations

import pytest

from ci_eval.core.contracts import Query
from ci_eval.plugins.adapters.lsp.places import Encoding, find_position, offset_in_line, width
from tests.adapters.lsp.conftest import TEXT, Start


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
