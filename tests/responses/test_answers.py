"""The text for a caret, the code of a record and a reviewer's comments, as responses have them."""

from __future__ import annotations

import pytest

from ci_eval.core.text_spans import cut
from ci_eval.plugins.responses.answers import Hole, Inserted, extract_code, extract_comments, extract_insertion
from ci_eval.plugins.responses.cleaning import clean

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
    "tokens at both ends": f"<|fim_middle|>{REST}<|endoftext|>",
    "token of SentencePiece": f"{REST}\u2581<EOT>",
    "the line again": f"return {REST}",
    "the line again in a fence": f"```python\n    return {REST}\n```",
    "end of a fence": f"{REST}\n```\n",
    "fence in a list": f"1. Write:\n\n   ```python\n   {REST}\n   ```",
    "fence in one line": f"```python {REST}```",
    "two backticks": f"``{REST}``",
    "the line before again": f"    result = sum(prices)\n    return {REST}",
    "the function again, dedented": f"```python\nresult = sum(prices)\nreturn {REST}\n```",
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


MARKED = [
    "1. {}", "- {}", '["{}"]', '"{}"', "Sure! {}", "Completion: {}", "42 | {}", "| {} |", "<code>{}</code>", "+ {}",
    "Falta `{}`.", "{comment} the rest\n{}", "```\n{comment} the rest\n{}\n```", "Sure!\n\n{}", "1.\n- {}",
]  # fmt: skip
PLACES = {
    "python": (SOURCE, REST),
    "go": ("package main\n\nfunc a() {\n\tdefer mutex.Unlock()\n}\n", "defer mutex.Unlock()"),
    "ruby": ("def a\n  total += price(1)\nend\n", "total += price(1)"),
    "typescript": ("function a() {\n  return total(price);\n}\n", "total(price);"),
    "scala": ("object A {\n  val size = total(price)\n}\n", "total(price)"),
}


@pytest.mark.parametrize("grammar", PLACES)
@pytest.mark.parametrize("shape", MARKED)
def test_the_right_text_after_a_mark_or_a_line_is_no_silent_zero(shape: str, grammar: str) -> None:
    text, rest = PLACES[grammar]
    part = read(shape.format(rest, comment="#" if grammar in {"python", "ruby"} else "//"), text, rest, grammar)
    assert not part.is_readable


@pytest.mark.parametrize(
    "wrong", ["-{}", "not {}", "({})", "{} + fee", "{},", "sum({})", "await {}", "[{}]", "{} # all", "a.{}", "x == {}"]
)
def test_code_that_has_the_right_text_is_a_wrong_answer(wrong: str) -> None:
    text = SOURCE.replace(REST, "tax_rates")
    assert read(wrong.format("tax_rates"), text, "tax_rates").is_readable


@pytest.mark.parametrize("grammar", PLACES)
def test_not_available_is_unreadable_unless_it_is_the_code(grammar: str) -> None:
    text, rest = PLACES[grammar]
    assert not read("N/A", text, rest, grammar).is_readable
    assert read("N/A", text.replace(rest, "N/A"), "N/A", grammar).is_readable


NEXT = "    label = name\n"


@pytest.mark.parametrize(
    "heading", ["Code:", "Rest of the line:", "**Ответ:**", "### Completion", "補完：", "## Vervollständigung:"]
)
@pytest.mark.parametrize(("grammar", "text"), [("python", SOURCE + NEXT), ("ruby", "x = 1\nlabel = name\n")])
def test_a_heading_above_the_answer_is_no_code(heading: str, grammar: str, text: str) -> None:
    for answer in (f"{heading}\nlabel = name", f"\n{heading}\n\nlabel = name"):
        assert not read(answer, text, "label = name", grammar).is_readable


def test_several_lines_in_a_fence_of_a_list_are_unreadable() -> None:
    rest = "result = sum(prices)\n    return result * tax"
    assert read(f"```python\n{rest}\n```", SOURCE, rest).is_readable
    assert not read(
        f"1. So:\n\n   ```python\n   {rest}\n   ```".replace("\n    r", "\n       r"), SOURCE, rest
    ).is_readable


def test_a_repetition_that_may_be_the_answer_is_unreadable() -> None:
    text = "def f():\n    result = 0\n"
    # `result = result = 0` is Python as well.
    assert not read("result = 0", text, "0").is_readable
    assert suggested("0", read("0", text, "0")) == "0"


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


CODE = "def test_add():\n    assert add(1, 2) == 3\n\n    assert add(0, 0) == 0"
FOCAL = "def add(a, b):\n    return a + b"


def fenced(code: str = CODE, tag: str = "python") -> str:
    return f"```{tag}\n{code}\n```"


@pytest.mark.parametrize(
    "answer",
    [
        fenced(),
        fenced(tag=""),
        fenced(tag="Python title=a.py"),
        fenced().replace("\n", "\r\n"),
        f"Вот тест:\n{fenced()}\nОн проверяет сумму.",
        f"The function:\n{fenced(FOCAL)}\nThe test:\n{fenced()}",
        f"{fenced()}\nIt tests this:\n{fenced(FOCAL)}",
        f"A draft:\n{fenced('def test_add(): ...')}\nThe test:\n{fenced()}",
        f"{fenced()}\nRun it:\n{fenced('pytest', 'bash')}",
        f"{fenced()}<|im_end|>",
        f"<think>\n{fenced('def test_wrong(): ...')}\n</think>\n{fenced()}",
        f"```python\n{CODE}",
        f"{fenced()}\nRun it:\n{fenced('pytest test_add.py', '')}",
        "   " + fenced().replace("\n", "\n   "),
        f"```python {CODE}\n```",
        f"```python\ndef test_a\n\n{fenced()}",
    ],
)
def test_the_last_fence_of_the_language_that_is_not_the_prompts_holds_the_code(answer: str) -> None:
    assert extract_code(clean(answer).text, "Python", f"Test this:\n{FOCAL}") == CODE


@pytest.mark.parametrize(
    "answer",
    [
        CODE,
        "I'm sorry, I can't write tests for this code.",
        f'{{"test": "{CODE}"}}',
        fenced(f"+{CODE}", "diff"),
        "diff --git a/a.py b/a.py\n+def test_add(): ...",
        f"<pre><code>{CODE}</code></pre>",
        fenced(FOCAL),
        "",
    ],
)
def test_without_it_the_answer_is_unreadable(answer: str) -> None:
    assert extract_code(answer, "Python", f"Test this:\n{FOCAL}") is None


@pytest.mark.parametrize("tag", ["js", "ts", "jest", "javascript"])
def test_a_language_has_several_tags(tag: str) -> None:
    assert extract_code(fenced("x();", tag), "JavaScript") == "x();"
    assert extract_code(fenced("x();", tag), "Go") is None


ONE, TWO = "Ключ лежит в коде.", "Имя слишком короткое."


@pytest.mark.parametrize(
    "answer",
    [
        f"Комментарий 1: {ONE}\nКомментарий 2: {TWO}",
        f"Comment 1: {ONE}\nComment 2: {TWO}",
        f"Comment #1: {ONE}\nComment #2: {TWO}",
        f"**Комментарий 1:** {ONE}\n\n**Комментарий 2:** {TWO}",
        f"### Комментарий 1:\n{ONE}\n### Комментарий 2:\n{TWO}",
        f"Комментарий 1 — {ONE}\nКомментарий 2 — {TWO}",
        f"Комментарий 1 (строка 2): {ONE}\nКомментарий 2 (строка 5): {TWO}",
        f"Комментарий 1: {ONE} Комментарий 2: {TWO}",
        f"Вот замечания.\n\nКомментарий 1: {ONE}\nКомментарий 2: {TWO}",
        f"Комментарий 1: {ONE}\nКомментарий 2: {TWO}\nКомментарий 3: <твой комментарий>\nКомментарий 4: Нет",
        f"1. {ONE}\n2. {TWO}",
        f"• Комментарий 1: {ONE}\n• Комментарий 2: {TWO}",
        f"Комментарий 1: {ONE}\n\n---\n\nКомментарий 2: {TWO}",
        f"```\nКомментарий 1: {ONE}\nКомментарий 2: {TWO}\n```",
        f"Comment 0: {ONE}\nComment 1: {TWO}",
        f"Comment 1 [minor]: {ONE}\nComment 2 [line 3]: {TWO}",
        f"Comment 1：{ONE}\nComment 2：{TWO}",
    ],
)
def test_each_marker_begins_a_comment(answer: str) -> None:
    assert extract_comments(answer) == [ONE, TWO]


@pytest.mark.parametrize(
    "answer",
    ["LGTM! 👍", "Замечаний нет, можно вливать.", "Nothing to comment on.", ONE, f'["{ONE}", "{TWO}"]',
     f"- {ONE}\n- {TWO}",
     f"- [ ] {ONE}\n- [x] {TWO}", f"| {ONE} |", f"Do this:\n1. {ONE}\n2. {TWO}", ""],
)  # fmt: skip
def test_without_a_marker_the_answer_is_unreadable(answer: str) -> None:
    assert extract_comments(answer) is None


@pytest.mark.parametrize("answer", ["NO COMMENTS", "**No comments.**\n", "Comment 1: NO COMMENTS"])
def test_no_comments_is_an_answer(answer: str) -> None:
    assert extract_comments(answer) == []


@pytest.mark.parametrize(
    "comment",
    ["перенесите это в __init__", "**kwargs здесь лишний", "Сделайте так:\n1. проверьте вызовы\n2. проверьте тесты",
     "Лучше так:\n```diff\n-a = 1\n+a = 2\n```", "См. Comment 7: там то же.", "Пишите `a < b`, а не &lt;."],
)  # fmt: skip
def test_what_stands_in_a_comment_stays(comment: str) -> None:
    assert extract_comments(f"Комментарий 1: {comment}") == [comment]


def test_each_file_may_have_markers_of_its_own() -> None:
    assert extract_comments(f"Comment 1: {ONE}\n\nComment 1: {TWO}\nComment 2: So.") == [ONE, TWO]


def test_markers_in_code_and_in_sentences_begin_no_comment() -> None:
    code = "Use\n```python\n# Comment 2: no\nx = 1\n```"
    for comment in (code, "See Comment 2: it is below."):
        assert extract_comments(f"Comment 1: {comment}\nComment 2: {TWO}") == [comment, TWO]


def test_a_single_word_is_a_comment_unless_others_have_several() -> None:
    assert extract_comments("Comment 1: Why?\nComment 2: Typo.") == ["Why?", "Typo."]
    assert extract_comments("Comment 1: Why so?\nComment 2: N/A") == ["Why so?"]


def test_entities_are_signs() -> None:
    assert extract_comments("Comment 1: Use a &lt; b.") == ["Use a < b."]
