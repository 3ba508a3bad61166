"""The prompts show a model all that a sample has, and the framework where it is known."""

from __future__ import annotations

import re

import pytest

from ci_eval.plugins.mining.record import Line
from ci_eval.plugins.mining.unit_tests.prompts import PROMPTS, UNKNOWN, fill_framework, translate_kind

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
