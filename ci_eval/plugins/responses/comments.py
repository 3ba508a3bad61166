"""The comments of a reviewer in the answer of a language model, and the words that it uses around them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ci_eval.plugins.responses.fences import find_fences, mask_fences
from ci_eval.plugins.responses.structured import find_json, find_texts, read_column

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


_ORDINALS = "|".join(sorted(ORDINALS, key=len, reverse=True))
# A letter that follows the noun without a blank is the noun's plural: `Comments:`.
_NUMBER = (
    rf"(?:\d{{1,2}}|(?<![a-zа-яё])(?:[ivx]{{1,4}}|(?:{_ORDINALS})(?!\w)|[a-zа-я](?=[ \t]*[:.)])))"
    r"(?:[ \t]*(?:/|из|of)[ \t]*\d{1,2})?"
)
_WHERE = (
    r"(?:[ \t]*(?:\([^()\n]{1,80}\)|\[[^\[\]\n]{1,80}\]|"
    r",?[ \t]*(?:строк[аи]|line|lines|стр\.?|L)[ \t]*\d[\d \t,–-]*))?"
)
"""The location that the comment belongs to, between number and colon."""
_NOUN = "|".join(re.escape(noun) for noun in sorted(NOUNS, key=len, reverse=True))
_EM = r"(?:\*+(?![\w*])|_+(?!\w)|`(?!\w)|\]|</(?:h[1-6]|b|strong)>)*"
"""The end of emphasis; signs before a letter are a name's, as in `__init__` and `**kwargs`."""
_LEAD = r"(?:[ \t]*<(?:h[1-6]|b|strong)>)*[ \t>#*_|•+`-]*(?:(?:\d{1,2}|[a-zа-я])[.)][ \t]+)?[*_#`]*"
_HEAD = (
    rf"(?:{_NOUN})[ \t_]*(?:[#№]|n[°º.]|no\.|номер|number)?[ \t]*(?P<number>{_NUMBER})(?!\w)[ \t]*{_EM}{_WHERE}{_EM}"
)
_COLON = rf"[ \t]*{_EM}(?:[:：;.)=|]|[-–—]+>?|→)[ \t]*{_EM}[ \t]*(?:[:–—][ \t]*)?{_EM}[ \t]*"
_BRACKET = r"[\[({<]?"

HEADING = re.compile(
    rf"^{_LEAD}{_BRACKET}{_HEAD}[\])}}>]?(?:{_COLON}|[ \t]*{_EM}[ \t]*$)", re.IGNORECASE | re.MULTILINE
)
ORDINAL = re.compile(
    rf"^{_LEAD}(?:\d{{1,2}}(?:-?(?:й|ый|ий|ой|е|ое|я|st|nd|rd|th)|[.)])?|перв\w+|втор\w+|трет\w+|четв[её]рт\w+|"
    rf"пят\w+|first|second|third|fourth|fifth|last|последн\w+)[ \t]+(?:{_NOUN})\w*{_WHERE}{_EM}[ \t]*[:–—-]"
    rf"[ \t]*{_EM}[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
UNNUMBERED = re.compile(rf"^{_LEAD}(?:{_NOUN}){_WHERE}{_EM}[ \t]*[:：][ \t]*{_EM}[ \t]*", re.IGNORECASE | re.MULTILINE)
IN_LINE = re.compile(
    rf"(?:^|(?<=[\s*_|;]))[*_#>\[]*{_HEAD}[ \t]*[:：–—-][ \t]*{_EM}[ \t]*", re.IGNORECASE | re.MULTILINE
)
"""The pattern of a heading within a line, which counts only if the numbers rise by one."""
ITEM = re.compile(
    r"^(?P<indent>[ \t]*)[>#*_ \t]*(?:(?:[#№][ \t]*)?[(\[]?"
    r"(?:\d{1,2}(?:\\?[.)\]]+|:|\ufe0f?\u20e3|[ \t]+[-–—])|[①-⑩])[*_]*(?:[ \t]+|(?=[А-ЯA-Z*_]))|[#№]\d{1,2}[ \t]+)",
    re.MULTILINE,
)
LOCATION = re.compile(
    rf"^{_LEAD}(?:(?:строк[аи]|lines?|стр\.|L)[ \t]*\d+(?:[ \t]*[-–—,][ \t]*L?\d+)*|"
    rf"[\w./\\-]*\.\w{{1,6}}:\d+(?:[:,–-]\d+)*){_EM}[ \t]*(?:[:：]|[–—-][ \t])[ \t]*{_EM}[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
"""The location in the code before a comment."""
LETTER = re.compile(
    r"^(?P<indent>[ \t]*)[*_]*[(\[]?(?P<number>[a-zа-е]|[ivx]{1,4})[.)\]]+[*_]*[ \t]+", re.MULTILINE | re.IGNORECASE
)
SEQUENCES = ("abcdefghij", "абвгдежзик", ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"))
"""The letters that items of a list may have in place of numbers."""
EMOJI = re.compile(
    r"^(?P<indent>[ \t]*)[*_]*[\u2190-\u21ff\u25a0-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]\ufe0f?[*_]*[ \t]*",
    re.MULTILINE,
)
BULLET = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+•●▪◦‣–—→])[ \t]+", re.MULTILINE)
SECTION = re.compile(r"^(?P<indent>)#{1,6}[ \t]+", re.MULTILINE)
# An element does not reach beyond the next one at the same indentation: many that never close are read in one pass.
_ELEMENT = re.compile(
    rf"^(?P<indent>[ \t]*)<(?P<tag>li|item|{_NOUN})(?:[ \t][^<>\n]*)?>"
    r"(?P<text>(?:(?!^(?P=indent)<(?P=tag)[ \t>]).)*?)</(?P=tag)>[ \t]*$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_KEY = re.compile(
    rf"^[ \t]*[\"']?(?:{'|'.join(NAMES)})[\"']?:[ \t]+(?P<text>.+?)(?=\n[ \t]*\w+:[ \t]|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)

_EDGES = "*# \t\n"
_RULE = re.compile(r"(?m)^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$")


@dataclass(frozen=True)
class _Mark:
    """A heading of a comment: its begin, end and number."""

    begin: int
    end: int
    number: str = ""
    indent: int = 0


def extract_comments(text: str) -> tuple[list[str], str]:
    """Return the comments in an answer without thoughts and tokens, and the rule that read them.

    A text that says that there is no comment, or that a prompt had in a comment's place, is no comment.
    """
    text = re.sub("[\u00a0\u202f\u2007]", " ", re.sub("[\u200b\u2060]", "", text))
    if (json_texts := _json(text)) is not None:
        return _select_comments(json_texts), "json"
    if (cells := read_column(mask_fences(text), re.compile(_NOUN, re.IGNORECASE))) and "\0" not in "".join(cells):
        return _select_comments(cells), "table"
    if elements := _elements(text):
        return _select_comments(elements), "html"
    fences = find_fences(text)
    if len(fences) == 1 and not (text[: fences[0].start] + text[fences[0].stop :]).strip() and fences[0].tag in _PROSE:
        inner = fences[0].text
        if fences[0].tag in {"yaml", "yml"} and (marks := _list(inner, BULLET)):
            return _select_comments(map(_value, _split(inner, marks))), "yaml"
        return extract_comments(inner)
    hidden = _mask_diffs(mask_fences(text))
    lists = {"number": _list(hidden, ITEM), "bullet": _list(hidden, BULLET), "letter": _letters(hidden)}
    outer = sorted(lists.items(), key=lambda item: min((mark.indent for mark in item[1]), default=0))
    headings = _headings(hidden)
    numbers = lists["number"]
    # Parts of a comment may have headings, such as `Problem:` and `Solution:` in each item of a list.
    if headings and numbers and len(numbers) > len(headings) and numbers[0].begin == headings[0].begin:
        headings = []
    for rule, marks in (("heading", headings), *outer, *_others(hidden)):
        if marks:
            return _select_comments(_cut_closing_words(_split(text, marks))), rule
    return _select_comments([text]), "whole"


def _split(text: str, marks: Sequence[_Mark]) -> list[str]:
    ends = [*(mark.begin for mark in marks[1:]), len(text)]
    return [text[mark.end : end] for mark, end in zip(marks, ends, strict=True)]


def _json(text: str) -> list[str] | None:
    """Return the comments in an answer in JSON, or None if JSON is only what a comment displays."""
    parsed = find_json(text)
    if parsed is None or (parsed.share < MOST_OF and (parsed.share < SOME_OF or _headings(mask_fences(text)))):
        return None
    texts = find_texts(parsed.content, NAMES)
    return texts if texts or parsed.share >= MOST_OF else None


MOST_OF, SOME_OF = 0.9, 0.5
"""The lowest shares of JSON in an answer that is all JSON, fences aside, and in one with a few words around it."""
_PROSE = {"", "text", "txt", "markdown", "md", "plaintext", "yaml", "yml"}


def _elements(text: str) -> list[str]:
    """Return the texts of the elements of HTML or XML, if an answer consists of nothing else."""
    elements = [html.unescape(match["text"]) for match in _ELEMENT.finditer(text)]
    behind = re.sub(r"<[^<>]*>|\s", "", _ELEMENT.sub("", text))
    return elements if len(behind) < (1 - MOST_OF) * sum(map(len, elements)) else []


def _value(text: str) -> str:
    """Return the text of an item in YAML that is an object, or the text as it is."""
    match = _KEY.search(text)
    return match["text"] if match else text


def _headings(text: str) -> list[_Mark]:
    numbered = [_mark(match) for match in HEADING.finditer(text)]
    in_line = _select_rising([_mark(match) for match in IN_LINE.finditer(text)])
    if len(in_line) > len(numbered) and (len(in_line) > 1 or not numbered):
        return in_line
    if numbered:
        return numbered
    others = (list(pattern.finditer(text)) for pattern in (ORDINAL, UNNUMBERED, LOCATION))
    return [_Mark(match.start(), match.end()) for match in next((marks for marks in others if marks), [])]


def _mark(match: re.Match[str]) -> _Mark:
    return _Mark(match.start(), match.end(), match["number"])


def _select_rising(marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the headings whose numbers rise by one from the first. A reference to an earlier comment is no heading."""
    rising: list[_Mark] = []
    for mark in marks:
        if mark.number.isdigit() and (not rising or int(mark.number) == int(rising[-1].number) + 1):
            rising.append(mark)
    return rising


def _list(text: str, item: re.Pattern[str]) -> list[_Mark]:
    """Return the items at the left edge of a list. Items that are indented deeper belong to the one above."""
    marks = [
        _Mark(match.start(), match.end(), indent=len(match["indent"].expandtabs(4))) for match in item.finditer(text)
    ]
    least = min((mark.indent for mark in marks), default=0)
    # An item may be off by a blank.
    return [mark for mark in marks if mark.indent <= least + 1]


def _letters(text: str) -> list[_Mark]:
    """Return the items that have letters, or Roman numbers, in their order."""
    matches = list(LETTER.finditer(text))
    numbers = [match["number"].lower() for match in matches]
    if len(numbers) < 2 or not any(numbers == list(known[: len(numbers)]) for known in SEQUENCES):
        return []
    return [_Mark(match.start(), match.end()) for match in matches]


def _others(text: str) -> Iterator[tuple[str, list[_Mark]]]:
    for rule, pattern in (("section", SECTION), ("emoji", EMOJI)):
        marks = [_Mark(match.start(), match.end()) for match in pattern.finditer(text)]
        # One alone is an ornament.
        yield rule, marks if len(marks) > 1 else []


def _mask_diffs(text: str) -> str:
    """Return the text with NUL characters in place of a diff without a fence."""
    lines = text.split("\n")
    begin = 0
    while begin < len(lines):
        end = begin
        while end < len(lines) and re.match(r"[-+]|@@|diff --git", lines[end]):
            end += 1
        # Lines that all begin with the same sign are a list, not a diff.
        run = lines[begin:end]
        if len(run) > 1 and len({line[0] for line in run}) > 1:
            lines[begin:end] = ["\0" * len(line) for line in run]
        begin = end + 1
    return "\n".join(lines)


def _cut_closing_words(texts: Sequence[str]) -> list[str]:
    """Return the comments without what a language model says behind the last one."""
    if len(texts) < 2:
        return list(texts)
    *first, last = texts
    body, blank, behind = last.rstrip().rpartition("\n\n")
    if blank and CLOSING.match(behind.lstrip(_EDGES)):
        last = body
    return [*first, last]


def _select_comments(texts: Iterable[str]) -> list[str]:
    return [text for raw in texts if (text := trim_comment(raw)) and not is_none(text)]


def is_none(text: str) -> bool:
    """Return whether a text in a comment's place says that there is no comment, or was the prompt's own."""
    bare = re.sub(r"\s+", " ", re.sub(r"[*_`~\"'«»“”()\[\]{}<>]", "", text)).strip(" .!…:;-–—").lower()
    if bare in NONE or _praises(bare):
        return True
    return bool(PLACEHOLDER.fullmatch(text.strip(" *_`\"'")))


def _praises(bare: str) -> bool:
    """Return whether all that a text says is that there is nothing to say, and that the code is good."""
    clauses = [clause.strip() for clause in re.split(r"[.,;!:–—]+(?:\s+(?:and|и)\b)?|\s-\s", bare) if clause.strip()]
    says = [bool(NOTHING.fullmatch(clause)) for clause in clauses]
    return any(says) and all(said or PRAISE.fullmatch(clause) for said, clause in zip(says, clauses, strict=True))


def trim_comment(text: str) -> str:
    """Return a comment without its surroundings: what a heading left before it, lines between comments, and emphasis or
    quotes around all of it."""
    # The underscores of a name are no emphasis.
    text = _RULE.sub("", text).strip()
    while True:
        before = text
        text = re.sub(r"^(?:[:–—]|[*_]{1,3}[ \t\n]+|[-=][ \t]+)\s*", "", text)
        text = re.sub(r"[ \t\n]+(?:[*_]{1,3}|#+)$", "", text).strip()
        if len(re.findall(r"(?<!\*)\*\*(?!\*)", text)) % 2 and not re.match(r"\*\*[a-z_]+\b", text):
            text = text.removeprefix("**").removesuffix("**").strip()
        for pattern in _AROUND:
            if match := pattern.fullmatch(text):
                text = match[1].strip()
        if text == before:
            return text


_AROUND = (
    re.compile(r"\*{1,3}([^*]+)\*{1,3}"),
    re.compile(r"_([^_\s][^_]*\s[^_]*)_"),
    re.compile(r"__([^_\s](?:(?!__).)*\s(?:(?!__).)*)__", re.DOTALL),
    re.compile(r"«([^«»]+)»"),
    re.compile(r"“([^“”]+)”"),
    re.compile(r'"([^"]+)"'),
)
"""The emphasis and the quotes around a whole text."""
