"""The words around comments, in the languages that language models answer in, as data."""

from __future__ import annotations

import re

NOUNS = (
    "ревью-комментарий", "комментарий", "комментария", "коммент", "замечание", "проблема", "предложение",
    "рекомендация",
    "вопрос", "пункт", "ошибка", "недочёт", "недочет", "отзыв", "совет", "правка",
    "review comment", "code review comment", "comment", "remark", "issue", "problem", "suggestion", "finding",
    "observation", "feedback", "concern", "note", "point", "nit", "recommendation",
    "коментар", "зауваження", "kommentar", "anmerkung", "hinweis", "commentaire", "remarque", "comentario",
    "comentário", "observación", "commento", "yorum", "komentarz", "uwaga", "评论", "意见", "问题", "建议", "コメント",
)  # fmt: skip
"""The nouns for a comment, in the languages that language models answer in."""
NAMES = (
    "comment", "comments", "review_comment", "review_comments", "text", "body", "message", "remark", "content",
    "description", "issue", "problem", "suggestion", "note", "feedback", "review", "reviews", "issues", "findings",
    "комментарий", "комментарии", "замечание", "замечания", "текст", "описание", "проблема",
)  # fmt: skip
"""The names under which JSON holds a comment, or all of them."""
NONE = frozenset({
    "", "нет", "none", "n/a", "na", "н/д", "null", "nil", "nothing", "no", "отсутствует", "отсутствуют",
    "пусто", "empty",
    "нет замечаний", "замечаний нет", "нет комментариев", "комментариев нет", "без замечаний", "без комментариев",
    "больше замечаний нет", "других замечаний нет", "нет других замечаний", "замечания отсутствуют", "не требуется",
    "комментарии отсутствуют", "no comment", "no comments", "no issues", "no issues found", "no further comments",
    "no other comments", "no additional comments", "no remarks", "not applicable", "lgtm", "keine", "aucun", "ninguno",
    "nessuno", "无", "なし", "проблем нет", "нет проблем", "no problems", "no problems found", "проблем не найдено",
    "замечаний не найдено", "ошибок не найдено",
})  # fmt: skip
"""The texts that say that there is no comment, without marks around them."""

PLACEHOLDER = re.compile(
    r"[<\[{(«]+[^<>\[\]{}()\n]*(?:коммент|замечан|текст|твой|ваш|здесь|описан|comment|remark|text|your|insert|here|"
    r"description|issue|feedback|review)[^<>\[\]{}()\n]*[>\]})»]+[.…]*",
    re.IGNORECASE,
)
"""The pattern of a text that a prompt had in the place of a comment."""
CLOSING = re.compile(
    r"(?:надеюсь|итог|в целом|в остальном|остальн|вс[её] остальное|вывод|резюме|общий вывод|если (?:нужно|хотите|"
    r"потребуется)|дайте знать|спасибо|удачи|таким образом|рекомендуется исправить|hope|i hope|overall|"
    r"in summary|summary|"
    r"in conclusion|conclusion|otherwise|other than that|let me know|the rest|everything else|please let|good luck|"
    r"these (?:comments|changes|suggestions))\b",
    re.IGNORECASE,
)
"""The pattern of the beginning of a paragraph that follows the last comment and is no comment."""
