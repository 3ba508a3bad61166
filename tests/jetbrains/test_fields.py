"""JSON of another program, field by field."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.plugins.jetbrains.fields import Fields, decode, numbered_files

FILE = Path("a.json")


def test_what_was_not_asked_for_is_left_with_its_place() -> None:
    fields = Fields({"a": 1, "b": {"c": "x", "d": 2}, "e": [{"f": 3}, {"f": 4, "g": 5}]}, FILE)
    assert fields.section("b").text("c") == "x"
    assert [each.number("f") for each in fields.objects("e")] == [3, 4]
    assert list(fields.left()) == [("", {"a": 1}), ("b", {"d": 2}), ("e[1]", {"g": 5})]


def test_missing_and_null_are_the_same() -> None:
    fields = Fields({"a": None}, FILE)
    assert (fields.text("a", "x"), fields.number("b", 7), fields.optional("a", str)) == ("x", 7, None)
    assert fields.objects("c") == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("x", "`a` is a text, not a number"),
        (True, "`a` is true or false, not a number"),
        (1.5, "`a` is 1.5, not a whole number"),
        (-1, "`a` is -1.0, not a number from 0 to a billion"),
        (1e300, "not a number from 0 to a billion"),
        (None, "`a` is missing"),
    ],
)
def test_a_wrong_number_is_an_error_with_file_and_place(value: object, said: str) -> None:
    with pytest.raises(WorkspaceError, match=rf"^a.json, sessions\[1\]: .*{said}"):
        Fields({"a": value}, FILE, "sessions[1]").number("a")


def test_what_is_no_object_and_what_is_no_json_are_errors() -> None:
    with pytest.raises(WorkspaceError, match="it is a list, not an object"):
        Fields([], FILE)
    with pytest.raises(WorkspaceError, match=r"a.json is damaged: .*\(byte 4\)"):
        decode(b'{"a"}', FILE)
    with pytest.raises(WorkspaceError, match="nested too deeply"):
        decode(b"[" * 100_000, FILE)


def test_files_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("b(10).gz", "a(9).gz", "c.gz", "d(x).gz", "e(10"):
        (tmp_path / name).touch()
    assert [path.name for path in numbered_files(tmp_path, ".gz")] == ["c.gz", "d(x).gz", "a(9).gz", "b(10).gz"]
