"""Comments in the many forms in which models give them."""

from __future__ import annotations

import json

import pytest

from ci_eval.plugins.responses.cleaning import clean
from ci_eval.plugins.responses.comments import extract_comments, is_none, trim_comment

ONE, TWO = "Ключ лежит в коде.", "Имя слишком короткое."
BOTH = [ONE, TWO]


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (f"Комментарий 1: {ONE}\nКомментарий 2: {TWO}", "heading"),
        (f"КОММЕНТАРИЙ 1: {ONE}\nКОММЕНТАРИЙ 2: {TWO}", "heading"),
        (f"Комментарий №1: {ONE}\nКомментарий №2: {TWO}", "heading"),
        (f"Комментарий № 1. {ONE}\nКомментарий № 2. {TWO}", "heading"),
        (f"**Комментарий 1:** {ONE}\n**Комментарий 2:** {TWO}", "heading"),
        (f"**Комментарий 1**: {ONE}\n\n**Комментарий 2**: {TWO}", "heading"),
        (f"### Комментарий 1\n{ONE}\n\n### Комментарий 2\n{TWO}", "heading"),
        (f"### Комментарий 1:\n{ONE}\n---\n### Комментарий 2:\n{TWO}", "heading"),
        (f"__Комментарий 1:__ {ONE}\n__Комментарий 2:__ {TWO}", "heading"),
        (f"Комментарий 1 - {ONE}\nКомментарий 2 - {TWO}", "heading"),
        (f"Комментарий 1 – {ONE}\nКомментарий 2 – {TWO}", "heading"),
        (f"Комментарий 1) {ONE}\nКомментарий 2) {TWO}", "heading"),
        (f"[Комментарий 1] {ONE}\n[Комментарий 2] {TWO}", "whole"),
        (f"[Комментарий 1]: {ONE}\n[Комментарий 2]: {TWO}", "heading"),
        (f"- Комментарий 1: {ONE}\n- Комментарий 2: {TWO}", "heading"),
        (f"1. Комментарий 1: {ONE}\n2. Комментарий 2: {TWO}", "heading"),
        (f"> Комментарий 1: {ONE}\n> Комментарий 2: {TWO}", "heading"),
        (f"Комментарий 1 [строка 12]: {ONE}\nКомментарий 2 [строки 3-5]: {TWO}", "heading"),
        (f"Комментарий 1, строка 12: {ONE}\nКомментарий 2, строка 14: {TWO}", "heading"),
        (f"Замечание 1: {ONE}\nЗамечание 2: {TWO}", "heading"),
        (f"Issue 1: {ONE}\nIssue 2: {TWO}", "heading"),
        (f"Review comment #1: {ONE}\nReview comment #2: {TWO}", "heading"),
        (f"Comment I: {ONE}\nComment II: {TWO}", "heading"),
        (f"Kommentar 1: {ONE}\nKommentar 2: {TWO}", "heading"),
        (f"Зауваження 1: {ONE}\nЗауваження 2: {TWO}", "heading"),
        (f"评论 1：{ONE}\n评论 2：{TWO}", "heading"),
        (f"Первый комментарий: {ONE}\nВторой комментарий: {TWO}", "heading"),
        (f"1-й комментарий: {ONE}\n2-й комментарий: {TWO}", "heading"),
        (f"Комментарий: {ONE}\nКомментарий: {TWO}", "heading"),
        (f"Комментарий 1: {ONE} Комментарий 2: {TWO}", "heading"),
        (f"Комментарий 1: {ONE}; Комментарий 2: {TWO}".replace(".;", "."), "heading"),
        (f"Вот замечания.\n\nКомментарий 1: {ONE}\nКомментарий 2: {TWO}", "heading"),
        (f"Комментарий 1: {ONE}\nКомментарий 2: {TWO}\n\nНадеюсь, это поможет!", "heading"),
        (f"Комментарий 1: {ONE}\nКомментарий 2: {TWO}\nКомментарий 3: нет замечаний.", "heading"),
        (f"Комментарий 1: {ONE}\nКомментарий 2: {TWO}\nКомментарий 3: [ваш комментарий]", "heading"),
        (f"Комментарий 1: {ONE}\nКомментарий 2: {TWO}\nКомментарий 3: ...", "heading"),
        (f"1. {ONE}\n2. {TWO}", "number"),
        (f"1) {ONE}\n2) {TWO}", "number"),
        (f"(1) {ONE}\n(2) {TWO}", "number"),
        (f"1: {ONE}\n2: {TWO}", "number"),
        (f"**1.** {ONE}\n**2.** {TWO}", "number"),
        (f"### 1. {ONE}\n### 2. {TWO}", "number"),
        (f"1\ufe0f\u20e3 {ONE}\n2\ufe0f\u20e3 {TWO}", "number"),
        (f"Проблемы:\n\n1. {ONE}\n\n2. {TWO}\n\nВ целом код хорош.", "number"),
        (f"- {ONE}\n- {TWO}", "bullet"),
        (f"* {ONE}\n* {TWO}", "bullet"),
        (f"• {ONE}\n• {TWO}", "bullet"),
        (f"+ {ONE}\n+ {TWO}", "bullet"),
        (json.dumps(BOTH), "json"),
        (json.dumps({"comments": BOTH}), "json"),
        (json.dumps([{"line": 1, "comment": ONE}, {"line": 2, "comment": TWO}], ensure_ascii=False), "json"),
        (json.dumps({"Комментарий 1": ONE, "Комментарий 2": TWO}), "json"),
        (json.dumps({"review": [{"severity": "high", "message": ONE}, {"severity": "low", "message": TWO}]}), "json"),
        (f'{json.dumps({"comment": ONE})}\n{json.dumps({"comment": TWO})}', "json"),
        (f"```json\n{json.dumps(BOTH, indent=1)}\n```", "json"),
        (f"Вот ответ:\n```\n{json.dumps(BOTH)}\n```", "json"),
        (f"Ответ: {json.dumps(BOTH)}", "json"),
        (f'["{ONE}", "{TWO}",]', "json"),
        (f"```\nКомментарий 1: {ONE}\nКомментарий 2: {TWO}\n```", "heading"),
        (f"| № | Комментарий |\n|---|---|\n| 1 | {ONE} |\n| 2 | {TWO} |", "table"),
        (f"№ | Строка | Замечание\n--|:--:|--\n1 | 2 | {ONE}\n2 | 5 | {TWO}", "table"),
        (f"<think>Комментарий 1: x</think>1. {ONE}\n2. {TWO}<|im_end|>\n1. y", "number"),
        (f"Комментарий 1: {ONE}\r\nКомментарий 2: {TWO}\r\n", "heading"),
        (f'Комментарий 1: "{ONE}"\nКомментарий 2: «{TWO}»', "heading"),
        (f"Комментарий 1: *{ONE}*\nКомментарий 2: **{TWO}**", "heading"),
    ],
)  # fmt: skip
def test_comments_are_read_as_a_person_reads_them(answer: str, rule: str) -> None:
    if rule == "whole":
        assert extract_comments(answer)[0] == [answer]
    else:
        assert extract_comments(clean(answer).text) == (BOTH, rule)


@pytest.mark.parametrize(
    ("answer", "comments"),
    [
        (f"1. {ONE}\n   - раз\n   - два\n2. {TWO}", [f"{ONE}\n   - раз\n   - два", TWO]),
        (f"- {ONE}\n  1. раз\n- {TWO}", [f"{ONE}\n  1. раз", TWO]),
        (f"1. {ONE}\n```python\n1. x\n- y\n```\n2. {TWO}", [f"{ONE}\n```python\n1. x\n- y\n```", TWO]),
        (f"Комментарий 1: {ONE} См. Комментарий 1: там то же.", [f"{ONE} См. Комментарий 1: там то же."]),
        (f"{ONE}\n- a = 1\n+ a = 2", [f"{ONE}\n- a = 1\n+ a = 2"]),
        (f"{ONE}\n@@ -1 +1 @@\n-a\n+b", [f"{ONE}\n@@ -1 +1 @@\n-a\n+b"]),
        ("Комментарий 1: __init__ лишний", ["__init__ лишний"]),
        ("1. __all__ и __slots__", ["__all__ и __slots__"]),
        ("Комментарий 1: `__name__` не нужен", ["`__name__` не нужен"]),
        ("Комментарий 1: *args и **kwargs не нужны", ["*args и **kwargs не нужны"]),
        ("Проблема 2 в том, что ключ лежит в коде.", ["Проблема 2 в том, что ключ лежит в коде."]),
        ("Замечаний нет.", []),
        ("LGTM", []),
        ("**Нет замечаний**", []),
        ("[]", []),
        ("", []),
        ("Комментарий 1: <твой комментарий>", []),
        ("Комментарий 1: {comment}", []),
        ("Комментарий 1: нет проверки на None", ["нет проверки на None"]),
        ("Комментарий 1: List<String> здесь не нужен", ["List<String> здесь не нужен"]),
        (f"Комментарий 1: {ONE}\n\nВторой абзац.\nКомментарий 2: {TWO}", [f"{ONE}\n\nВторой абзац.", TWO]),
        ("2024 год: дата записана в коде", ["2024 год: дата записана в коде"]),
    ],
)  # fmt: skip
def test_what_belongs_to_a_comment_stays_in_it(answer: str, comments: list[str]) -> None:
    assert extract_comments(answer)[0] == comments


@pytest.mark.parametrize("text", ["-", "—", "N/A", "n/a.", "None", "нет", "…", "<your comment here>", "(no comments)"])
def test_what_says_that_there_is_none_is_none(text: str) -> None:
    assert is_none(trim_comment(text))
