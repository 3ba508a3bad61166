"""Lines of a dataset as files: holes in source files."""

from __future__ import annotations

from functools import partial

import pytest

from ci_eval.core.actions.records import RecordFile, Records, read_records
from ci_eval.core.catalogs import languages
from ci_eval.core.records import read_hole

HOLE: dict[str, object] = {
    "id": "a",
    "prefix": "class A {\n",
    "suffix": "}\n",
    "expected": "  int f;  \n",
    "language": "java",
}


def read(*lines: dict[str, object] | str) -> Records:
    return read_records(enumerate(lines, 1), partial(read_hole, endings=languages.list_endings()), ())


def test_a_hole_is_a_file_of_its_language_with_one_item_and_no_blanks_at_its_end() -> None:
    (file,) = read(HOLE).files
    (item,) = file.items
    assert (file.path, file.text) == ("a.java", "class A {\n  int f;\n}\n")
    assert (item.text, file.text[item.begin : item.end]) == ("  int f;", item.text)
    assert item.properties.language == "java"


def test_holes_of_one_dataset_are_in_several_languages() -> None:
    files = read(*({**HOLE, "language": name} for name in ("Python", "go", "csharp", "text"))).files
    assert [file.path for file in files] == ["a.cs", "a.go", "a.py", "a.txt"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(ending: str) -> None:
    (file,) = read({**HOLE, "prefix": f"a{ending}b{ending}", "expected": f"c{ending}d{ending}"}).files
    assert file.text == "a\nb\nc\nd\n}\n"
    assert file.items[0].text == "c\nd"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"expected": None}, "expected"),
        ({"expected": " \n"}, "`expected` is empty"),
        ({"language": "jawa"}, "unknown language 'jawa'; did you mean java?"),
        ({"prefix": 1}, r"Expected `str`, got `int` - at `\$.prefix`"),
        ({"suffix": "\0"}, "NUL"),
    ],
)
def test_a_line_that_is_no_hole_is_an_error_with_its_number(wrong: dict[str, object], said: str) -> None:
    dataset = read(HOLE, "it is not a JSON object", {**HOLE, "id": "b", **wrong}, {**HOLE, "id": "c"})
    assert [file.path for file in dataset.files] == ["a.java", "c.java"]
    assert [error.path for error in dataset.errors] == ["line 2", "line 3"]
    with pytest.raises(ValueError, match=said):
        raise ValueError(dataset.errors[1].message)


def test_tests_of_a_hole_are_not_run_and_that_is_said() -> None:
    dataset = read({**HOLE, "tests": "check(f)"})
    assert (len(dataset.files), dataset.errors[0].path) == (1, "line 1")
    assert "`tests` are not run" in dataset.errors[0].message


def test_a_hole_has_the_same_file_whatever_the_order_of_its_fields() -> None:
    def path(line: dict[str, object]) -> str:
        (file,) = read({name: value for name, value in line.items() if name != "id"}).files
        assert isinstance(file, RecordFile)
        return file.path

    assert path(HOLE) == path(dict(reversed(HOLE.items())))
