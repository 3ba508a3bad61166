"""Thoughts and tokens of templates around an answer."""

from __future__ import annotations

import time

import pytest

from ci_eval.plugins.responses.cleaning import bounds, clean


@pytest.mark.parametrize(
    ("text", "answer", "thought"),
    [
        ("four", "four", ""),
        ("<think>hm</think>four", "four", "<think>hm</think>"),
        ("<think>\nhm\n</think>\n\nfour", "\n\nfour", "<think>\nhm\n</think>"),
        ("hm</think>four", "four", "hm</think>"),
        ("<think>a <think> b</think> c</think>four", "four", None),
        ("<think>hm", "", "<think>hm"),
        ("[THINK]hm[/THINK]four", "four", None),
        ("◁think▷hm◁/think▷four", "four", None),
        ("<|START_THINKING|>hm<|END_THINKING|>four", "four", None),
        ("<THINKING>hm</THINKING>four", "four", None),
        ("four\n<think>hm</think>\n", "four\n\n", None),
        ("<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>four<|return|>", "four", None),
        ("<|channel|>analysis<|message|>hm", "", None),
        ("<|channel|>final <|constrain|>json<|message|>four", "four", None),
        ("Use `</think>` here", "Use `</think>` here", ""),
        ("a < b <think", "a < b <think", ""),
        ("<reasoning_content>hm</reasoning_content>four", "four", None),
        ("&lt;think&gt;hm&lt;/think&gt;four", "four", None),
        ("Here is my thought process:\nhm\nHere is my response:\nfour", "\nfour", None),
        ("Thought: hm\n\nFinal Answer: four", " four", None),
        ("[THOUGHTS]hm[/THOUGHTS]four", "four", None),
        ('<think time="3">\nhm\n</think>\nfour', "\nfour", None),
        ("<размышления>hm</размышления>four", "four", None),
        ("<details><summary>My reasoning</summary>hm</details>four", "four", None),
        ("<reasoning_content>four", "<reasoning_content>four", ""),
        ("<ReasonCode> lacks </ReasonCode>", "<ReasonCode> lacks </ReasonCode>", ""),
    ],
)  # fmt: skip
def test_thoughts_are_taken_out_and_kept(text: str, answer: str, thought: str | None) -> None:
    cleaned = clean(text)
    assert cleaned.text == answer
    assert ("thought" in cleaned.rules) == (cleaned.thought != "")
    if thought is not None:
        assert cleaned.thought == thought


def test_the_configuration_names_more_marks() -> None:
    text = "(ponder)hm(/ponder)four[STOP]five"
    assert clean(text).text == text
    cleaned = clean(text, (("(ponder)", "(/ponder)"),), ("[STOP]",))
    assert (cleaned.text, cleaned.rules) == ("four", ("thought", "end token"))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("  a + b", "  a + b"),
        ("<think>\nhm\n</think>\n  a + b", "  a + b"),
        ("<think>hm</think> a", " a"),
        ("a + b<|endoftext|>c", "a + b"),
        ("<|fim_middle|>", ""),
        ("<|begin_of_box|>a<|end_of_box|>", "a"),
        ("<|header_start|>assistant<|header_end|>\n\na<|eot|>", "\na"),
        ("<|start_of_role|>assistant<|end_of_role|>a<|any_other|>b", "a"),
        ("[/INST] a", "a"),
        ("a<pad><pad>", "a"),
        ("a [end of text]", "a "),
        ("a\n\n### Instruction:\nb", "a\n\n"),
        ("a\n\n### Human: b\n### Assistant: c", "a\n\n"),
        ("a\n### Input: b is not checked", "a\n### Input: b is not checked"),
        ("a\n## Users:\nb", "a\n## Users:\nb"),
        ("x = '</s>'\n</s>y", "x = '</s>'\n"),
        ("x = '<|im_end|>'", "x = '<|im_end|>'"),
        ("a <| b |> c", "a <| b |> c"),
        ("drop `<|im_end|>` here", "drop `<|im_end|>` here"),
        ("`a`<|im_end|>", "`a`"),
        ("<think>hm", ""),
    ],
)
def test_at_a_caret_the_indentation_stays(text: str, answer: str) -> None:
    begin, end, _ = bounds(text)
    assert text[begin:end] == answer


@pytest.mark.parametrize("piece", ["\n", "\n\n", "\u00a0", "<", "<|", "### ", "&lt;think"])
def test_a_loop_of_a_model_is_cleaned_at_once(piece: str) -> None:
    text = piece * 50_000
    begin = time.process_time()
    clean(text)
    assert time.process_time() - begin < 10
