"""Right answers in every language, through the reader: each is read to exactly itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.syntax import choose_grammar
from ci_eval.core.model import Span
from ci_eval.core.text_spans import cut
from ci_eval.plugins.responses.completion import Hole, extract_insertion

SAMPLES = Path(__file__).parent.parent / "languages" / "samples"
CARETS = 20
"""The number of carets in each language, for each span."""


def carets(path: Path, span: Span) -> Iterator[tuple[Hole, str]]:
    """Yield holes in a file before tokens, and the right answer to each."""
    language = languages.CATALOG.load(path.stem)
    text = path.read_text()
    grammar = choose_grammar(language.grammars, path.name)
    tokens = [token for token in language.extract(text, path.name, {}).tokens if len(token.text) > 1]
    for token in random.Random(1).sample(tokens, min(CARETS, len(tokens))):
        before = text[: token.offset]
        rest = cut(text[token.offset :], before, span)
        yield Hole(before=before, after=text[token.offset + len(rest) :], original=rest, grammar=grammar), rest


@pytest.mark.parametrize("span", ["line", "statement", "block"])
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("[a-z]*.*")), ids=lambda path: path.stem)
def test_a_right_answer_is_read_to_itself(path: Path, span: Span) -> None:
    if path.stem not in languages.names():
        pytest.skip("no file of a language")
    for hole, rest in carets(path, span):
        shorten = partial(cut, before=hole.before, span=span)
        for answer in (rest, f"{rest}\n", f"```{path.stem}\n{rest}\n```", f"```\n{rest}\n```\n"):
            for chat in (True, False):
                part = extract_insertion(answer, hole, shorten, language=path.stem, chat=chat)
                assert (shorten(answer[part.begin : part.end]), part.is_readable) == (rest, True)
