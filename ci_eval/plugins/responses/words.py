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
ORDINALS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "один", "два", "три", "четыре",
    "пять",
    "первый", "второй", "третий", "четвёртый", "четвертый", "пятый", "первое", "второе", "третье", "первая", "вторая",
    "третья",
)  # fmt: skip
"""Numbers in words."""
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

_OF_COMMENTS = r"(?:замечаний|проблем|ошибок|комментариев|issues?|problems?|comments?|remarks?|concerns?|errors?|bugs?)"
NOTHING = re.compile(
    r"(?:(?:у меня|здесь|тут|there (?:is|are)|i (?:have|see|found|did not find|didn't find)|пока) )*"
    r"(?:(?:нет|без|никаких|no|any|не вижу) (?:(?:других|серьёзных|серьезных|явных|существенных|other|further|more|"
    rf"additional|major|serious|significant|obvious|critical) )?{_OF_COMMENTS}|{_OF_COMMENTS} (?:у меня )?(?:больше )?"
    r"(?:нет|не найдено|не обнаружено|не выявлено))(?: (?:нет|не найдено|не обнаружено|were found|was found|found|"
    r"detected|identified|here|to report|so far|at all|with it|(?:in|with|on|about|to) (?:this|the|that|these|your) "
    r"(?:\w+ )?(?:diff|changes?|code|patch|snippet|block|commit|pull request|hunk)|(?:в|по|к) (?:этом|этому|данном|"
    r"данному|этих|этим)? ?(?:коду?|коде|изменени\w+|фрагмент\w*|дифф\w*|патч\w*|блок\w*)))*|lgtm|"
    r"looks good(?: to me)?"
)
"""The pattern of a clause that says that there is no comment."""
PRAISE = re.compile(
    r"(?:(?:the|this|your|these|all|весь|всё|все|этот|это|данный|сам|в целом|overall|so) )*"
    r"(?:код|изменени[ея]|дифф|патч|фрагмент|code|changes?|diff|patch|everything|it|this|implementation|решение)?"
    r"(?: ?(?:выглядит|выглядят|написан\w*|в|looks?|is|are|seems?|appears? to be|to be|полностью|вполне|very|quite|"
    r"perfectly|здесь))* ?(?:хорош\w*|порядке|корректн\w*|правильн\w*|верн\w*|нормальн\w*|отличн\w*|чист\w*|понятн\w*|"
    r"аккуратн\w*|good|fine|great|correct|clean|clear|ok|okay|well[ -]written|readable|solid)"
    r"(?: (?:to me|as is|и понятен|и понятно|и чист\w*|and (?:clear|clean|correct|readable|well[ -]written)))*"
)
"""The pattern of a clause that says that the code is good."""
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
