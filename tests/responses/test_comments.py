"""Comments in the many forms in which models give them."""

from __future__ import annotations

import json
import time

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
        (f"Comment one: {ONE}\nComment two: {TWO}", "heading"),
        (f"Комментарий первый: {ONE}\nКомментарий второй: {TWO}", "heading"),
        (f"Комментарий 1/2: {ONE}\nКомментарий 2/2: {TWO}", "heading"),
        (f"Комментарий 1 из 2: {ONE}\nКомментарий 2 из 2: {TWO}", "heading"),
        (f"Comment_1: {ONE}\nComment_2: {TWO}", "heading"),
        (f"Комментарий 1; {ONE}\nКомментарий 2; {TWO}", "heading"),
        (f"`Комментарий 1:` {ONE}\n`Комментарий 2:` {TWO}", "heading"),
        (f"Комментарий\u00a01: {ONE}\nКомментарий\u00a02: {TWO}", "heading"),
        (f"\u200bКомментарий 1: {ONE}\n\u200bКомментарий 2: {TWO}", "heading"),
        (f"Комментарий 1\n======\n{ONE}\n\nКомментарий 2\n------\n{TWO}", "heading"),
        (f"Строка 2: {ONE}\nСтроки 5-7: {TWO}", "heading"),
        (f"**Line 2:** {ONE}\n**Lines 5, 7:** {TWO}", "heading"),
        (f"a.py:2: {ONE}\nb/c.py:5:1: {TWO}", "heading"),
        (f"1\\. {ONE}\n2\\. {TWO}", "number"),
        (f"1.\u00a0{ONE}\n2.\u00a0{TWO}", "number"),
        (f"#1 {ONE}\n#2 {TWO}", "number"),
        (f"Issues:\n1. {ONE}\n2. {TWO}", "number"),
        (f"Comments:\n- {ONE}\n- {TWO}", "bullet"),
        (f"comments:\n  - {ONE}\n  - {TWO}", "bullet"),
        (f"```yaml\ncomments:\n  - line: 2\n    comment: {ONE}\n  - line: 5\n    comment: {TWO}\n```", "yaml"),
        (f"I. {ONE}\nII. {TWO}", "letter"),
        (f"a) {ONE}\nb) {TWO}", "letter"),
        (f"\U0001f534 {ONE}\n\U0001f7e1 {TWO}", "emoji"),
        (f"<ol>\n<li>{ONE}</li>\n<li>{TWO}</li>\n</ol>", "html"),
        (f'<comment id="1">\n{ONE}\n</comment>\n<comment id="2">\n{TWO}\n</comment>', "html"),
        (f'[\n  // one\n  "{ONE}",\n  /* two */ "{TWO}", # end\n]', "json"),
        (f'```jsonc\n[{{"comment": "{ONE}"}}, // x\n {{"comment": "{TWO}"}}]\n```', "json"),
        (f'```json\n{{"comments": [\n  "{ONE}",\n  "{TWO}"\n', "json"),
        (f'[{{"comment": "{ONE}"}}, {{"comment": "{TWO}", "line": ', "json"),
        (json.dumps([{"level": "low", "why": ONE}, {"level": "high", "why": TWO}]), "json"),
        (f"<thought_process>\n1. x\n</thought_process>\n1. {ONE}\n2. {TWO}", "number"),
        (f"1. {ONE}\n2. {TWO}\n\nUser: thanks\nAssistant: 1. You are welcome", "number"),
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
        ('["См. https://a.b/c // d", "x"]', ["См. https://a.b/c // d", "x"]),
        ('[{"comment": "a"}, {"comment": "Имя не', ["a", "Имя не"]),
        (f"1. Проблема: {ONE}\n   Решение: x.\n2. {TWO}", [f"Проблема: {ONE}\n   Решение: x.", TWO]),
        (f"1. {ONE}\n   a) раз\n   b) два\n2. {TWO}", [f"{ONE}\n   a) раз\n   b) два", TWO]),
        ("1. Тег\n<li>a</li>\nлишний.", ["Тег\n<li>a</li>\nлишний."]),
        ("Строка 2 слишком длинна: разбейте её.", ["Строка 2 слишком длинна: разбейте её."]),
        ("https://a.b/c.html:80: не тот порт", ["https://a.b/c.html:80: не тот порт"]),
        ("#123 чинит то же.", ["#123 чинит то же."]),
        (f"\u26a0\ufe0f {ONE}", [f"\u26a0\ufe0f {ONE}"]),
        ("Код выглядит хорошо, замечаний нет.", []),
        ("В целом всё хорошо. Замечаний нет.", []),
        ("No issues found in this diff.", []),
        ("Looks good to me!", []),
        ("Нет проблем, но имя плохое.", ["Нет проблем, но имя плохое."]),
        ("Нет комментариев к новой функции.", ["Нет комментариев к новой функции."]),
        ("No errors are raised for an empty text.", ["No errors are raised for an empty text."]),
        ("Изменение корректно.", ["Изменение корректно."]),
        ("[" * 3000, []),
        (f"<ol>\n<li>{ONE}\n  <ul>\n  <li>a</li>\n  </ul>\n</li>\n<li>{TWO}</li>\n</ol>",
         [f"{ONE}\n  <ul>\n  <li>a", TWO]),
    ],
)  # fmt: skip
def test_what_belongs_to_a_comment_stays_in_it(answer: str, comments: list[str]) -> None:
    assert extract_comments(answer)[0] == comments


@pytest.mark.parametrize("text", ["-", "—", "N/A", "n/a.", "None", "нет", "…", "<your comment here>", "(no comments)"])
def test_what_says_that_there_is_none_is_none(text: str) -> None:
    assert is_none(trim_comment(text))


@pytest.mark.parametrize("line", ["<li>a b c", "```python\na", "a </think>", "| a", "1. a", "- a\n+ b"])
def test_a_loop_of_a_model_is_read_at_once(line: str) -> None:
    text = f"{line}\n" * 6_000
    begin = time.process_time()
    extract_comments(clean(text).text)
    assert time.process_time() - begin < 5
