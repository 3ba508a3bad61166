"""The controls: one always knows, the other never answers; and what predictors that count know of the project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import Configurable, Query, Surroundings
from ci_eval.core.model import Kind, Status
from ci_eval.plugins.adapters.controls import ConfigurableEngine, Predictor, PredictorOptions
from ci_eval.plugins.engines.controls import EMPTY, ORACLE, STRETCH, Words
from ci_eval.plugins.engines.predictors import ENGINES, Counting, CountingOptions
from ci_eval.plugins.languages.python import KEYWORDS
from tests.projects import GREETER, ask, generate, sessions, setup, write


def test_oracle_is_always_first_and_empty_never_answers(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    ask(oracle := generate(project, tmp_path / "o"), setup(ORACLE, project))
    ask(empty := generate(project, tmp_path / "e"), setup(EMPTY, project))
    assert {session.lookups[-1].rank for session in sessions(oracle)} == {1}
    assert {session.status for session in sessions(empty)} == {Status.EMPTY}


@pytest.mark.parametrize("seed", range(5))
def test_in_a_long_file_words_are_those_of_the_whole_text_after_each_edit(seed: int) -> None:
    choice = Random(seed)
    words = [f"a{number}" for number in range(90)] + ["2", "\n", "b\n", "+"]
    text = " ".join(choice.choices(words, k=STRETCH))
    around = Surroundings(root=Path(), language="python", keywords=KEYWORDS, cache=Path(), timeout=1, memory=0)
    (running := Words(around)).open("a.py", text)
    for _ in range(3):
        offset = choice.randrange(len(running.text))
        running.edit([(offset, 3, choice.choice(words))])
        caret = choice.choice([offset, choice.randrange(len(running.text))])
        before, after = (re.findall(r"\b[^\W\d]\w*", part) for part in (running.text[:caret], running.text[caret:]))
        nearest_first = list(dict.fromkeys([*reversed(before), *after, *sorted(KEYWORDS)]))
        assert running.words(Query(offset=caret, prefix="", expected="")) == nearest_first


class Known(Counting):
    """Predicts what it knows."""

    def predict(self, before: str, after: str) -> Iterable[str]:
        self.around.read(before, after)
        return self.elsewhere


def known(root: Path, options: CountingOptions, ignored: frozenset[str] = frozenset()) -> dict[str, int]:
    surroundings = Surroundings(
        root=root,
        language="python",
        keywords=KEYWORDS,
        cache=root,
        timeout=1,
        memory=0,
        suffixes=(".py",),
        ignored=ignored,
    )
    running = Known(options, surroundings)
    running.open("a.py", "")
    return running.elsewhere


def test_the_tokens_of_the_other_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path, a__py="mine = 1\n", b__py="x = y\n", c__py="x = z\n")
    assert known(tmp_path, CountingOptions()) == {"x": 2, "=": 2, "y": 1, "z": 1}
    assert known(tmp_path, CountingOptions(), frozenset({"c.py"})) == {"x": 1, "=": 1, "y": 1}
    assert known(tmp_path, CountingOptions(project=False)) == {}


class Fixed(Predictor[PredictorOptions]):
    """Always predicts the same."""

    def predict(self, before: str, after: str) -> Iterable[str]:
        return (text for text in ["if", "name", "(", "name", "1", "note"] if self.asked(text))


FIXED = ConfigurableEngine(name="fixed", summary="", control=Fixed, options=PredictorOptions(limit=2))


def predictions(root: Path, prefix: str = "", kinds: frozenset[Kind] | None = None) -> list[str]:
    surroundings = Surroundings(
        root=root, language="python", keywords=KEYWORDS, cache=root, timeout=1, memory=0, suffixes=(".py",), kinds=kinds
    )
    running = FIXED.start(FIXED.install(None, root), surroundings)
    running.open("a.py", prefix)
    answer = running.complete(Query(offset=len(prefix), prefix=prefix, expected="x"))
    return [each.text for each in answer.suggestions]


def test_a_list_has_each_text_once_and_no_more_than_the_limit(tmp_path: Path) -> None:
    assert predictions(tmp_path) == ["if", "name"]


def test_what_is_typed_must_begin_it(tmp_path: Path) -> None:
    assert predictions(tmp_path, "n") == ["name", "note"]


def test_only_what_looks_like_the_kinds_asked_for_is_predicted(tmp_path: Path) -> None:
    assert predictions(tmp_path, kinds=frozenset({Kind.PUNCTUATION, Kind.LITERAL})) == ["(", "1"]
    assert predictions(tmp_path, kinds=frozenset({Kind.DEFINITION, Kind.FIELD})) == ["name", "note"]


def test_files_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, a__py="x = 1\n", b__py=b"\xff", c__txt="y")
    surroundings = Surroundings(
        root=tmp_path, language="python", keywords=KEYWORDS, cache=tmp_path, timeout=1, memory=0, suffixes=(".py",)
    )
    assert Fixed(PredictorOptions(), surroundings).files == {"a.py": "x = 1\n"}


def test_options_are_part_of_the_version(tmp_path: Path) -> None:
    assert isinstance(ENGINES["ngram"], Configurable)
    three = ENGINES["ngram"].configured({"order": 3, "scopes": ["file", "project"]})
    assert three.install(None, tmp_path).info.version.endswith("(scopes file+project, order 3)")
    assert "(" not in ENGINES["ngram"].configured({"order": 6}).install(None, tmp_path).info.version


@pytest.mark.parametrize("options", [{"ordr": 3}, {"order": 0}, {"order": "six"}])
def test_a_wrong_option_is_refused_with_those_that_are_known(options: dict[str, object]) -> None:
    assert isinstance(ENGINES["ngram"], Configurable)
    with pytest.raises(ConfigError, match="scopes, weight, order"):
        ENGINES["ngram"].configured(options)
