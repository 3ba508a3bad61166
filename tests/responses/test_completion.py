"""The part of an answer that goes on at a caret."""

from __future__ import annotations

import pytest

from ci_eval.core.text_spans import cut
from ci_eval.plugins.responses.completion import Hole, Inserted, extract_insertion

SOURCE = "def total(prices, tax):\n    result = sum(prices)\n    return result * tax\n"
REST = "result * tax"


def read(answer: str, text: str = SOURCE, rest: str = REST, grammar: str = "python", *, chat: bool = True) -> Inserted:
    """Return what is read of an answer at the caret before `rest`, the end of a line of the text."""
    begin = text.index(rest)
    hole = Hole(before=text[:begin], after=text[begin + len(rest) :], original=rest, grammar=grammar)
    return extract_insertion(
        answer,
        hole,
        lambda part: cut(part, hole.before, "text" if "\n" in rest else "line"),
        language=grammar,
        chat=chat,
    )


def suggested(answer: str, part: Inserted) -> str:
    return answer[part.begin : part.end].split("\n")[0].strip()


RIGHT = {
    "bare": REST,
    "line ends before": f"\n\n{REST}",
    "fence": f"```python\n{REST}\n```",
    "words and fence": f"Вот продолжение:\n\n```python\n{REST}\n```\nОно умножает.",
    "bare fence with CRLF": f"```\r\n{REST}\r\n```\r\n",
    "fence that is not closed": f"```py\n{REST}",
    "backticks": f"`{REST}`",
    "no-break space": f"\u00a0{REST}",
    "thought": f"<think>\nhm\n</think>\n\n{REST}",
    "thought without its opening": f"hm\n</think>\n{REST}",
    "token behind": f"{REST}<|im_end|>",
    "token that may be code": f"{REST} <SUF>",
    "token before": f"<|fim_middle|>{REST}",
    "token of SentencePiece": f"{REST}\u2581<EOT>",
    "the line again": f"return {REST}",
    "the line again in a fence": f"```python\n    return {REST}\n```",
    "end of a fence": f"{REST}\n```\n",
}


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_what_cannot_be_code_around_the_answer_is_left_out(answer: str) -> None:
    part = read(answer)
    assert (suggested(answer, part), part.is_readable) == (REST, True)


UNREADABLE = {
    "a sentence": f"Здесь должно быть так:\n{REST}",
    "final answer": f"**Final answer:**\n\n{REST}",
    "label": f"Code:\n{REST}",
    "html": f"<pre><code>{REST}</code></pre>",
    "diff": f"```diff\n+{REST}\n```",
    "json": f'{{"insertion": "{REST}"}}',
    "tool call": f'{{"name": "insert", "arguments": {{"text": "{REST}"}}}}',
    "two fences": f"Before:\n```python\nNone\n```\nAfter:\n```python\n{REST}\n```",
    "numbers": f"1 {REST}",
    "refusal": "I'm sorry, I can't complete this.",
    "quotation": f"> {REST}",
    "file name": f"total.py: {REST}",
}


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE)
def test_any_other_answer_is_code_or_unreadable(answer: str) -> None:
    assert not read(answer).is_readable


@pytest.mark.parametrize(
    ("grammar", "text", "rest"),
    [
        ("go", 'package main\n\nvar s = sink{\n\tOutput: os.Stdout,\n}\n', "Output: os.Stdout,"),
        ("javascript", 'const a = wrap(code, "<code>" + code + "</code>");\n', 'code + "</code>");'),
        ("cpp", "long long x = 1;\n", "long x = 1;"),
        ("python", "x = re.compile('(?P<unk>x)')\n", "'(?P<unk>x)')"),
        ("python", "x = '</think>' + y\n", "'</think>' + y"),
        ("javascript", "const a = <s>old</s>\n", "<s>old</s>"),
        ("go", "package main\n\nvar a = `b`\n", "`b`"),
        ("java", "class A { int x = y[PREFIX]; }\n", "y[PREFIX]; }"),
        ("python", "x = {'a': b'<|im_end|>'}\n", "{'a': b'<|im_end|>'}"),
        ("python", "def f():\n    '''\n```\nx\n```\n    '''\n", "'''\n```\nx\n```\n    '''"),
        ("scala", "val `answer` = 1\n", "`answer` = 1"),
        ("ruby", "x = `ls`\n", "`ls`"),
    ],
)  # fmt: skip
def test_right_code_is_read_to_itself(grammar: str, text: str, rest: str) -> None:
    for answer in (rest, f"```{grammar}\n{rest}\n```" if "```" not in rest else rest):
        for chat in (True, False):
            part = read(answer, text, rest, grammar, chat=chat)
            assert (answer[part.begin : part.end], part.is_readable) == (rest, True)


def test_line_ends_before_the_answer_of_a_completion_are_its_own() -> None:
    part = read(f"\n{REST}", chat=False)
    assert part.begin == 0


def test_an_empty_fence_is_no_answer() -> None:
    part = read("```python\n\n```")
    assert (part.begin == part.end, part.is_readable) == (True, True)


def test_without_a_grammar_every_text_is_code() -> None:
    assert read("Sure thing!", grammar="").is_readable


def test_errors_that_the_file_has_already_are_not_the_answers() -> None:
    assert read(REST, f"def (:\n{SOURCE}?? ??\n").is_readable
