"""Comments after the markers that prompts ask for."""

from __future__ import annotations

import pytest

from ci_eval.plugins.responses.comments import extract_comments

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


def test_a_single_word_is_a_comment_unless_others_have_several() -> None:
    assert extract_comments("Comment 1: Why?\nComment 2: Typo.") == ["Why?", "Typo."]
    assert extract_comments("Comment 1: Why so?\nComment 2: N/A") == ["Why so?"]


def test_entities_are_signs() -> None:
    assert extract_comments("Comment 1: Use a &lt; b.") == ["Use a < b."]
