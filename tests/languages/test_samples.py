"""The samples: one file per language whose comments state, for the line above each, every token that must be found.

A statement is `text KIND [argument] [static|member] [package]`, joined by ` | ` in the order of the line.
Keywords are stated nowhere but in a comment `KEYWORDS: …`, which then states nothing else. A line of code that no
comment follows must have keywords only. The first lines of a sample say `path: …` (where it stands in its project), and
may say `declares: PACKAGE NAME NAME…` (what the rest of the project declares, a line per package).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import Language
from ci_eval.core.model import Kind, Token

SAMPLES = Path(__file__).parent / "samples"
COMMENT = re.compile(r"\s*(?:#|//) (.*)")
STATED = re.compile(rf"KEYWORDS: |\S+ (?:{'|'.join(kind.value for kind in Kind)})\b")
LANGUAGES = languages.names()
SAMPLED = [name for name in LANGUAGES if any(SAMPLES.glob(f"{name}.*"))]
WITH_COMMENTS = [name for name in LANGUAGES if name != "text"]


@dataclass(frozen=True)
class Sample:
    """A sample, and what its language finds in it."""

    file: str
    text: str
    lines: list[str]
    tokens: tuple[Token, ...]

    def statement(self, number: int) -> str:
        """What a comment on that line states; "" for none."""
        found = COMMENT.fullmatch(self.lines[number])
        return found[1] if found and STATED.match(found[1]) else ""

    @cached_property
    def tokens_by_line(self) -> list[list[Token]]:
        by_line: list[list[Token]] = [[] for _ in self.lines]
        for token in self.tokens:
            by_line[self.text.count("\n", 0, token.offset)].append(token)
        return by_line


@cache
def sample(name: str) -> Sample:
    language: Language = languages.CATALOG.load(name)
    (file,) = SAMPLES.glob(f"{name}.*")
    text = file.read_text()
    head = "\n".join(text.split("\n")[:12])
    path = re.search(r"path: (\S+)", head)
    declared = {line.split()[0]: frozenset(line.split()[1:]) for line in re.findall(r"declares: (.+)", head)}
    tokens = language.extract(text, path[1] if path else file.name, declared).tokens
    return Sample(file.name, text, text.split("\n"), tokens)


def spelled(token: Token) -> str:
    known = token.properties
    static = {None: "", True: "static", False: "member"}[known.is_static]
    words = [token.text, known.kind.value, "argument" if known.is_argument else "", static, known.package or ""]
    return " ".join(filter(None, words))


@pytest.mark.parametrize("name", SAMPLED)
def test_the_tokens_of_a_line_are_as_stated(name: str) -> None:
    here = sample(name)
    wrong = []
    for number, line_tokens in enumerate(here.tokens_by_line[:-1]):
        if stated := here.statement(number + 1):
            keywords = [t.text for t in line_tokens if t.properties.kind == Kind.KEYWORD]
            others = [spelled(t) for t in line_tokens if t.properties.kind != Kind.KEYWORD]
            actual = "KEYWORDS: " + " ".join(keywords) if stated.startswith("KEYWORDS: ") else " | ".join(others)
            if actual != stated:
                wrong.append(f"{here.file}:{number + 1}\n  stated: {stated}\n  actual: {actual}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", WITH_COMMENTS)
def test_a_line_that_no_comment_follows_has_keywords_only(name: str) -> None:
    here = sample(name)
    silent = set(range(len(here.lines))) - {i - 1 for i in range(len(here.lines)) if here.statement(i)}
    assert {t.properties.kind for i in silent for t in here.tokens_by_line[i]} <= {Kind.KEYWORD}


@pytest.mark.parametrize("name", LANGUAGES)
def test_each_token_stands_once_where_it_says(name: str) -> None:
    here = sample(name)
    places = [token.offset for token in here.tokens]
    assert places == sorted(set(places))
    assert all(here.text[t.offset : t.offset + len(t.text)] == t.text for t in here.tokens)


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_keyword_that_is_found_is_among_the_language_s_keywords(name: str) -> None:
    found = {token.text for token in sample(name).tokens if token.properties.kind == Kind.KEYWORD}
    assert found <= languages.CATALOG.load(name).keywords


@pytest.mark.parametrize("name", WITH_COMMENTS)
def test_offsets_count_code_points(name: str) -> None:
    here = sample(name)
    moved = re.sub(r"\b(path: \S+)", r"\1 𝒳é", here.text, count=1)
    language = languages.CATALOG.load(name)
    found = language.extract(moved, re.search(r"path: (\S+)", here.text)[1], {}).tokens  # type: ignore[index]
    assert [t.offset for t in found] == [t.offset + len(moved) - len(here.text) for t in here.tokens]


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [1, 5])
@pytest.mark.parametrize("name", LANGUAGES)
def test_a_large_file_is_no_trouble(name: str, megabytes: int) -> None:
    here = sample(name)
    # What follows this line is no longer Ruby.
    text = here.text.partition("__END__")[0]
    times = megabytes * 1_000_000 // len(text.encode()) + 1
    found = languages.CATALOG.load(name).extract(text * times, "large", {})
    assert len(found.tokens) > times * len(here.tokens) / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_deep_nesting_is_no_reason_to_fail(name: str) -> None:
    language = languages.CATALOG.load(name)
    # The time that these grammars take grows with the square of the depth.
    deep = 5_000 if name in {"cpp", "scala"} else 20_000
    for text in ("(" * deep, "f(" * deep + "x" + ")" * deep, "[" * deep + "]" * deep, "{" * deep):
        assert 0 <= language.extract(text, "a", {}).unparsable <= 1
