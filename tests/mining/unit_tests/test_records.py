"""Which pairs become records, and what becomes of every other test."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from ci_eval.core.model import Runnable
from ci_eval.plugins.mining.record import Line
from ci_eval.plugins.mining.unit_tests.records import PROMPTS, UNKNOWN, Selection, fill_framework, translate_kind
from tests.mining.unit_tests.pairs import fate, mined

CODE = "def take(items):\n    return items\n"


def of(tmp_path: Path, body: str, code: str = CODE) -> str:
    return fate(mined(tmp_path, "python", {"box.py": code, "test_box.py": f"def test_take():\n    {body}\n"}))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("take(1)", "paired"),
        (f"take('{'x' * 4970}')", "paired"),
        (f"take('{'x' * 4971}')", "long test"),
        ("; ".join(["assert take(1)"] * 20), "paired"),
        ("; ".join(["assert take(1)"] * 21), "many assertions"),
    ],
)
def test_the_filters_of_the_card_hold_at_their_edges(tmp_path: Path, body: str, expected: str) -> None:
    assert of(tmp_path, body) == expected


def test_what_is_shown_has_less_than_70_000_characters(tmp_path: Path) -> None:
    assert of(tmp_path, "take(1)", CODE + "x = 1\n" * 11_700) == "long input"
    assert of(tmp_path, "take(1)", CODE + "x = 1\n" * 11_500) == "paired"


def many(count: int) -> dict[str, str]:
    tests = "".join(f"def test_take_{i}():\n    assert take({i})\n" for i in range(count))
    return {"box.py": CODE, "test_box.py": tests}


def test_of_many_pairs_the_seed_draws_and_a_larger_limit_adds_to_them(tmp_path: Path) -> None:
    chosen = {
        (limit, seed): {line.id for line in mined(tmp_path, "python", many(9), Selection(limit=limit, seed=seed)).lines}
        for limit, seed in ((3, 0), (3, 1), (5, 0))
    }
    assert len(chosen[3, 0]) == 3
    assert chosen[3, 0] != chosen[3, 1]
    assert chosen[3, 0] < chosen[5, 0]


def test_every_test_has_one_fate(tmp_path: Path) -> None:
    found = mined(tmp_path, "python", many(9), Selection(limit=3))
    assert +found.outcomes == {"paired": 3, "over the limit": 6}


def test_a_pair_that_another_project_has_too_is_a_duplicate_whatever_its_blanks(tmp_path: Path) -> None:
    known: set[str] = set()
    mined(tmp_path / "a", "python", many(1), known=known)
    spaced = {name: text.replace("    ", "        ") for name, text in many(1).items()}
    assert fate(mined(tmp_path / "b", "python", spaced, known=known)) == "duplicate"


def test_only_high_confidence_is_a_name_that_matches_and_a_call(tmp_path: Path) -> None:
    files = {"box.py": CODE, "test_box.py": "def test_take():\n    assert box\n"}
    assert mined(tmp_path, "python", files).lines[0].meta["confidence"] == "low"
    assert fate(mined(tmp_path, "python", files, Selection(only_high=True))) == "low confidence"


def test_a_record_tells_where_it_is_from(tmp_path: Path) -> None:
    line = mined(tmp_path, "python", {"box.py": f"\n{CODE}", "test_box.py": many(1)["test_box.py"]}).lines[0]
    assert line.meta == {
        "split": "test",
        "project": "path:demo",
        "revision": "1",
        "licence": "MIT",
        "test": "test_take_0",
        "testPath": "test_box.py",
        "testLines": (1, 2),
        "focal": "take",
        "focalPath": "box.py",
        "focalLines": (2, 3),
        "focalType": "function",
        "rule": "prefix",
        "nameMatches": True,
        "isCalled": True,
        "confidence": "high",
    }


BOX = "# é\nclass Box:\n    def take(self):\n        return 1\n"
TESTS = """import pytest

class TestBox:
    def test_take(self):
        assert Box().take() == 1

    @pytest.mark.slow
    def test_take_twice(self):
        assert Box().take() == 1

def test_other():
    pass
"""


def test_a_record_of_a_package_says_how_its_test_is_run_by_itself(tmp_path: Path) -> None:
    found = mined(tmp_path, "python", {"box.py": BOX, "test_box.py": TESTS}, spec="pypi:demo==1").lines
    run = found[0].run
    assert isinstance(run, Runnable)
    text, at = run.files["test_box.py"], run.test.begin
    assert (run.project, list(run.files), run.test.end) == ("pypi:demo==1", ["test_box.py"], at)
    assert text[:at] == "import pytest\n\nclass TestBox:\n    "
    assert text[at:] == "\n\n    pass\n\npass\n"
    assert BOX[run.focal.begin : run.focal.end] == "def take(self):\n        return 1"


@pytest.mark.parametrize("spec", ["path:demo", "git:https://example.org/demo@1"])
def test_a_record_of_no_package_does_not_say_how_it_is_run(tmp_path: Path, spec: str) -> None:
    (line,) = mined(tmp_path, "python", many(1), spec=spec).lines
    assert line.run is UNSET
    assert b'"run"' not in msgspec.json.encode(line)


PARTS = (
    "focal_func", "focal_func_context", "test_func_type", "test_func_context", "language", "focal_file_path",
    "test_file_path",
)  # fmt: skip


def line(framework: str) -> Line:
    context = {**dict.fromkeys(PARTS, "x"), "test_framework": framework}
    return Line(id="1", cluster="p", language="python", references=("a",), meta={}, context=context)


@pytest.mark.parametrize("language", PROMPTS)
@pytest.mark.parametrize("framework", ["jest", "", UNKNOWN])
def test_there_are_ten_different_ones_which_show_each_part_once(language: str, framework: str) -> None:
    assert len({*PROMPTS[language]}) == 10
    for template in PROMPTS[language]:
        instruction = fill_framework(template, line(framework), language)
        expected = [*PARTS, *(["test_framework"] if framework == "jest" else [])]
        parts = re.findall(r"\{(\w+)\}", instruction)
        assert sorted({*parts}) == sorted(expected)
        assert all(parts.count(name) == 1 for name in ("focal_func", "focal_func_context", "test_func_context"))
        assert "FRAMEWORK" not in instruction
        assert re.search(r"fence|ограждени", instruction)


@pytest.mark.parametrize("kind", ["function", "method"])
def test_the_kind_of_a_test_is_in_the_language_of_the_prompt(kind: str) -> None:
    sample = line("")
    sample.context["test_func_type"] = kind
    assert translate_kind(sample, "en").context["test_func_type"] == kind
    assert re.fullmatch("[а-я]+", translate_kind(sample, "ru").context["test_func_type"])
    assert sample.context["test_func_type"] == kind
