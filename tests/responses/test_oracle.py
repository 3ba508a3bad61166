"""Right answers in every language, through the reader: each is read to exactly itself."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.core import machine
from ci_eval.core.actions import source_files
from ci_eval.core.catalogs import languages
from ci_eval.core.config import load
from ci_eval.core.contracts import Language, Query
from ci_eval.core.grammar.document import decode
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.model import Span
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.text_spans import cut
from ci_eval.fetch import project
from ci_eval.plugins.adapters.endpoints.engine import make_suggestion, measure_usage, read_answer
from ci_eval.plugins.adapters.endpoints.messages import Reply
from tests.needs import need

SAMPLES = sorted((Path(__file__).parent.parent / "languages" / "samples").glob("[a-z]*.*"))
CONFIGS = sorted((Path(__file__).parent.parent.parent / "configs").glob("*.yaml"))
CLIENTS = {"npm": ("npm",), "maven": ("mvn",), "go": ("go",), "crate": ("cargo",)}
"""Scheme of a project → the program that downloads it."""
FILES, LARGEST_BYTES = 12, 40_000
LONGEST = 2000
"""The most characters of an answer."""


def carets(text: str, lines: int) -> Iterator[tuple[int, Span, str]]:
    """Yield offset, span and right answer: in so many lines the rest of the line, the line with and without its
    indentation, a statement and a block; "text" is all of a block or function at once."""
    chance = random.Random(1)
    begins = [match.start() for match in re.finditer(r"(?m)^(?=[ \t]*\S)", text)]
    for begin in chance.sample(begins, min(lines, len(begins))):
        line = text[begin:].partition("\n")[0]
        code = begin + len(line) - len(line.lstrip())
        within = code + chance.choice([match.start() for match in re.finditer(r"\w+|[^\w\s]", line.lstrip())])
        places: list[tuple[int, Span]] = [(within, "line"), (code, "line"), (begin, "line"), (code, "statement")]
        places += [(code, "block"), (begin, "block"), (code, "text")]
        for offset, span in places:
            right = cut(text[offset:], text[:offset], "block" if span == "text" else span)
            # Blanks at the ends of lines are nobody's answer.
            if right and len(right) <= LONGEST and text.startswith(right, offset):
                yield offset, span, right


def answers(right: str, tag: str) -> Iterator[tuple[str, str]]:
    """Yield the answer as models write it, with the api that they are asked by."""
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", right))])
    fenced = f"{ticks}{tag}\n{right}\n{ticks}"
    of_chat = right, f"\n\n{right}", f"<think>\nhm\n</think>\n\n{right}", f"{right}<|im_end|>", fenced
    for answer in (*of_chat, f"{ticks}\n{right}\n{ticks}\n", f"Here it is:\n\n{fenced}\n\nIt goes on there."):
        yield "chat", answer
    for api in ("fim", "completions"):
        for answer in (right, f"{right}\n", f"{right}<|endoftext|>", fenced):
            yield api, answer


def damages(path: str, text: str, language: Language, lines: int) -> Iterator[str]:
    """Yield a text for each reading: empty, or what became of the right answer."""
    grammar = choose_grammar(language.grammars, path)
    for offset, span, right in carets(text, lines):
        before = text[:offset]
        document = before + text[offset + len(right) :]
        query = Query(offset=offset, prefix="", expected=right, span=span, word=language.word)
        for api, answer in answers(right, language.name):
            settings = EndpointConfig(endpoint="http://127.0.0.1:1", model="m", api=api)
            part = read_answer(answer, document, query, settings, grammar=grammar, language=language.name)
            usage = measure_usage(Reply(text=answer), before, query, None, part)
            suggestion = make_suggestion(answer[part.begin : part.end], before, query)
            is_right = suggestion == right and part.is_readable and not usage.unreadable
            yield "" if is_right else f"{path}, {offset}, {api}, {span}: {answer!r} is read as {suggestion!r}"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_right_answer_is_read_to_itself(path: Path) -> None:
    if path.stem not in languages.names():
        pytest.skip("no file of a language")
    readings = list(damages(path.name, path.read_text(), languages.CATALOG.load(path.stem), 4))
    assert len(readings) > 200
    assert not list(filter(None, readings))


@pytest.mark.registry
@pytest.mark.slow(minutes=1)
@pytest.mark.parametrize(
    "path", [path for path in CONFIGS if load(path).config.project.spec], ids=lambda path: path.stem
)
def test_a_hundred_thousand_right_answers_of_real_projects_are_read_to_themselves(path: Path) -> None:
    config = load(path).config
    language = languages.CATALOG.load(config.language)
    need(*CLIENTS.get(config.project.spec.partition(":")[0], ()))
    root = project.prepare(config.project.spec, cache=machine.cache_folder()).root
    paths = list(source_files(root, language, config.actions))
    paths = [name for name in paths if 2000 < (root / name).stat().st_size < LARGEST_BYTES]
    chosen = random.Random(0).sample(paths, min(FILES, len(paths)))
    readings = [
        reading
        for name in chosen
        for reading in damages(name, decode((root / name).read_bytes()), language, 100 // len(chosen) + 1)
    ]
    assert len(readings) > 100_000 / 11
    assert not list(filter(None, readings))
