"""What a model is asked, and what its answer suggests."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, EngineRaised
from ci_eval.core.contracts import Query
from ci_eval.core.model import Record, Span
from ci_eval.core.model.settings import EndpointConfig, SamplingConfig
from ci_eval.plugins.adapters.endpoints.engine import (
    build_prompt,
    fill_instruction,
    make_suggestion,
    measure_usage,
    read_answer,
)
from ci_eval.plugins.adapters.endpoints.messages import FAMILIES, Reply, find_template
from ci_eval.plugins.responses.answers import Inserted


def query(span: Span = "word", prefix: str = "", record: Record | None = None) -> Query:
    return Query(offset=0, prefix=prefix, expected="", span=span, record=record)


@pytest.mark.parametrize(
    ("answer", "before", "asked", "text"),
    [
        ("name(1)", "self.", query(), "name"),
        ("me(1)", "self.na", query(prefix="na"), "name"),
        (" name", "return ", query(), "name"),
        ("(name)", "f", query(), ""),
        ("a + b\nc", "return ", query("line"), "a + b"),
        ("rn a\n", "retu", query("line", "retu"), "return a"),
        ("    a\n", "", query("line"), "    a"),
        ("", "x = ", query("line"), ""),
    ],
)
def test_an_answer_is_cut_to_what_was_asked_for(answer: str, before: str, asked: Query, text: str) -> None:
    assert insert(answer, before, asked, "completions") == text


@pytest.mark.parametrize("api", ["chat", "completions"])
@pytest.mark.parametrize(
    "answer",
    ["b + c\nd", "```python\nb + c\n```\nThat adds them.", "<think>\nsum\n</think>\nb + c", "b + c<|endoftext|>",
     "b + c\r\nd", "b + c\rd"],
)  # fmt: skip
def test_of_what_surrounds_the_line_nothing_counts(answer: str, api: str) -> None:
    assert insert(answer, "    a = ", query("line"), api) == "b + c"


def test_a_chat_may_give_nothing_in_a_fence() -> None:
    for answer in ("```\n```", "```python\n\n```"):
        assert insert(answer, "    a = ", query("line"), "chat") == ""


def insert(answer: str, before: str, asked: Query, api: Any) -> str:
    """What an answer of that api would insert."""
    asked = replace(asked, offset=len(before))
    part = read_answer(
        answer, f"{before}\n", asked, EndpointConfig(api=api, template="qwen"), grammar="python", language=""
    )
    return make_suggestion(answer[part.begin : part.end], before, asked)


@pytest.mark.parametrize(
    ("answer", "expected", "unreadable"),
    [("Sure thing!", "b + c", True), ("sum(b", "sum(b, c)", False), ("d - e", "b + c", False), ("", "b + c", False)],
)
def test_an_answer_is_unreadable_unless_it_is_code_or_begins_as_the_file_goes_on(
    answer: str, expected: str, unreadable: bool
) -> None:
    asked = Query(offset=4, prefix="", expected=expected, span="line")
    part = read_answer(answer, "a = \n", asked, EndpointConfig(), grammar="python", language="")
    assert measure_usage(Reply(text=answer), "a = ", asked, None, part).unreadable == unreadable


@pytest.mark.parametrize(
    ("text", "finish", "asked", "cut_off"),
    [
        ("a + ", "length", query("line"), True),
        ("a + b\nc", "length", query("line"), False),
        ("a + ", "stop", query("line"), False),
        ("nam", "length", query(), True),
        ("name(", "length", query(), False),
        ("def f():", "length", query("text", record=Record()), True),
        ("def f():", "filter", query("text", record=Record()), True),
    ],
)
def test_an_answer_is_cut_off_where_more_of_it_would_have_counted(
    text: str, finish: str, asked: Query, cut_off: bool
) -> None:
    reply = Reply(text=text, finish=finish)
    part = Inserted(begin=0, end=len(text))
    assert measure_usage(reply, "", asked, None, part).cut_off == cut_off


def test_an_instruction_has_the_context_in_its_places_and_nothing_else_is_one() -> None:
    record = Record(instruction="Look: {diff} {other} {}", context={"diff": "+ {file}", "file": "x"})
    assert fill_instruction(record) == "Look: + {file} {other} {}"
    assert fill_instruction(Record(context={"diff": "+ a", "file": "x"})) == "diff:\n+ a\n\nfile:\nx"


def test_a_record_is_asked_as_an_instruction() -> None:
    given = EndpointConfig(sampling=SamplingConfig(max_tokens=7))
    prompt, _ = build_prompt(query("text", record=Record(instruction="Do.")), given, None, "", "")
    assert (prompt.instruction, prompt.prefix, prompt.max_tokens) == ("Do.", "", 7)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_template_holds_both_sides_once_and_nothing_of_them_is_a_place(family: str) -> None:
    filled = find_template(family).filled("a {suffix}", "b {prefix}")
    assert (filled.count("a {suffix}"), filled.count("b {prefix}")) == (1, 1)


def test_code_that_holds_a_token_of_the_template_is_not_sent() -> None:
    with pytest.raises(EngineRaised, match="fim_middle"):
        find_template("qwen").filled('x = "<|fim_middle|>"', "")


@pytest.mark.parametrize("template", ["qwne", "{prefix}", "{prefix}{suffix}{prefix}"])
def test_a_template_that_is_none_is_refused(template: str) -> None:
    with pytest.raises(ConfigError, match="each once"):
        find_template(template)
