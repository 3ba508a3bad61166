"""Fences as CommonMark has them; thoughts and tokens of templates at either end of an answer."""

from __future__ import annotations

import time

import pytest

from ci_eval.plugins.responses.cleaning import clean, find_fences


@pytest.mark.parametrize(
    "text",
    [
        "<think>hm</think>four",
        "<think>\nhm\n</think>\n\nfour",
        "hm</think>four",
        "<think>a <think> b</think> c</think>four",
        "[THINK]hm[/THINK]four",
        "◁think▷hm◁/think▷four",
        "<|START_THINKING|>hm<|END_THINKING|>four",
        "<THINK>hm</think>four",
        "<think>a</think>\n<think>b</think>\nfour",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>four<|return|>",
    ],
)
def test_a_thought_before_the_answer_is_taken_out_and_kept(text: str) -> None:
    cleaned = clean(text)
    assert (cleaned.text, "thought" in cleaned.rules) == ("four", True)
    assert cleaned.thought


def test_a_word_between_two_tokens_is_the_answer() -> None:
    assert clean("<|fim_middle|>final<|endoftext|>").text == "final"


@pytest.mark.parametrize("text", ["<think>hm", "<|channel|>analysis<|message|>hm"])
def test_a_thought_that_does_not_end_is_no_answer(text: str) -> None:
    assert clean(text).text == ""


@pytest.mark.parametrize(
    "text", ["four<|im_end|>", "<|fim_middle|>four", "four<fim_suffix>", "four <SUF>", "four\u2581<EOT>",
             "[MIDDLE]four",
             "four<\uff5cend\u2581of\u2581sentence\uff5c>", "<|im_start|>assistant\nfour<|im_end|>\n", "four</s></s>",
             "<|start_header_id|>assistant<|end_header_id|>\n\nfour<|eot_id|>", "[/INST] four"]
)  # fmt: skip
def test_tokens_of_all_families_go_at_either_end(text: str) -> None:
    assert clean(text).text == "four"


@pytest.mark.parametrize(
    "text",
    [
        "Use `</think>` here",
        "x = '<|im_end|>'",
        "a <| b |> c",
        "a<|im_end|>b",
        "(?P<unk>x)",
        "<s>old</s>",
        "a < b <think",
    ],
)
def test_none_of_them_is_taken_out_of_the_middle(text: str) -> None:
    assert (clean(text).text, clean(text).rules) == (text, ())


def test_the_configuration_names_more_marks() -> None:
    cleaned = clean("(ponder)hm(/ponder)four[STOP]", (("(ponder)", "(/ponder)"),), ("[STOP]",))
    assert (cleaned.text, cleaned.rules) == ("four", ("thought", "end token"))


@pytest.mark.parametrize("piece", ["\n", "\n\n", "\u00a0", "<", "<|", "### ", "<think>", "</think>", "<|a|>", "</s>"])
def test_a_loop_of_a_model_is_cleaned_at_once(piece: str) -> None:
    begin = time.process_time()
    clean(piece * 20_000)
    assert time.process_time() - begin < 10


CODE = "def f():\n    return 1"


@pytest.mark.parametrize(
    ("text", "tag", "code"),
    [
        (f"```python\n{CODE}\n```", "python", CODE),
        (f"~~~\n{CODE}\n~~~\n", "", CODE),
        (f"````py title=a.py\n```\n{CODE}\n```\n````", "py", f"```\n{CODE}\n```"),
        (f"```{{.python}}\r\n{CODE}\r\n```\r\n", "python", CODE),
        (f"```python\n{CODE}```\nDone.", "python", CODE),
        ("```\n```", "", ""),
    ],
)
def test_a_fence_ends_at_its_own_signs(text: str, tag: str, code: str) -> None:
    (fence,) = find_fences(text)
    assert (fence.tag, fence.text, fence.is_closed) == (tag, code, True)
    assert text[fence.begin : fence.end] == fence.text


def test_a_fence_that_is_not_closed_goes_on_to_the_end() -> None:
    (fence,) = find_fences(f"Here:\n```python\n{CODE}")
    assert (fence.text, fence.is_closed) == (CODE, False)


def test_signs_within_a_line_and_in_indented_code_are_no_fence() -> None:
    assert find_fences("a ``` b\n    ```\n    x\n    ```\n") == []
