"""Real code of each language: the pinned projects of the nightly configurations."""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.actions import Source, source_files, spell_task
from ci_eval.core.catalogs import languages
from ci_eval.core.config import load
from ci_eval.core.grammar.document import decode
from ci_eval.core.model import StrategyConfig, Token
from ci_eval.fetch import project
from ci_eval.plugins.tasks import completion
from tests.actions.views import actions_of_file
from tests.command import command
from tests.needs import need
from tests.replaying import STRATEGIES, fits, replay, seen, task_of

FOLDER = Path(__file__).parent.parent.parent / "configs"
CONFIGS = {path.stem: path for path in sorted(FOLDER.glob("*.yaml")) if load(path).config.project.spec}
FILES, LARGEST = 12, 40_000
QUERIES = 250
CLIENTS = {"npm": ("npm",), "maven": ("mvn",), "go": ("go",), "crate": ("cargo",), "debian": ("apt-get",)}
"""Scheme of a project → what fetches it."""

pytestmark = pytest.mark.registry

# What a language has found in its project is stored in a process: all its tests run in the same one.
BY_LANGUAGE = [pytest.param(name, marks=pytest.mark.xdist_group(f"language {name}")) for name in CONFIGS]


@cache
def sources(name: str) -> list[Source]:
    """Return some files of the project, always the same ones."""
    config = load(CONFIGS[name]).config
    language = languages.CATALOG.load(name)
    need(*CLIENTS.get(config.project.spec.partition(":")[0], ()))
    root = project.prepare(config.project.spec, cache=machine.cache_folder()).root
    paths = [p for p in source_files(root, language, config.actions) if 500 < (root / p).stat().st_size < LARGEST]
    random.Random(0).shuffle(paths)
    return [
        Source(project=name, path=path, text=decode((root / path).read_bytes()), language=language)
        for path in sorted(paths[:FILES])
    ]


@cache
def with_tokens(name: str) -> list[tuple[Source, tuple[Token, ...]]]:
    return [(source, source.language.extract(source.text, source.path, {}).tokens) for source in sources(name)]


@pytest.mark.parametrize("name", BY_LANGUAGE)
def test_every_language_finds_tokens_that_stand_where_they_say(name: str) -> None:
    assert sum(len(tokens) for _, tokens in with_tokens(name)) > 500
    for source, tokens in with_tokens(name):
        assert [source.text[t.offset : t.offset + len(t.text)] for t in tokens] == [t.text for t in tokens]
        assert all(one.offset < two.offset for one, two in pairwise(tokens))


@pytest.mark.parametrize("name", BY_LANGUAGE)
def test_the_actions_of_a_real_file_give_it_back(name: str) -> None:
    changed = [
        f"{source.path} under {spell_task(strategy, 0, task_of(strategy))}"
        for strategy in STRATEGIES
        for source, tokens in with_tokens(name)
        if replay(source.text, actions_of_file(source, tokens, strategy, 0.0, task_of(strategy))) != source.text
    ]
    assert not changed, "\n".join(changed)


@pytest.mark.parametrize("name", BY_LANGUAGE)
@settings(max_examples=20, deadline=None)
@given(data=st.data(), strategy=st.sampled_from(STRATEGIES))
def test_the_actions_of_a_damaged_file_give_it_back(name: str, data: st.DataObject, strategy: StrategyConfig) -> None:
    """Real code with pieces cut out, doubled and put in."""
    source = data.draw(st.sampled_from(sources(name)))
    text = source.text
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(text)))
        end = min(begin + data.draw(st.integers(0, 60)), len(text))
        piece = data.draw(st.sampled_from(["", text[begin:end] * 2, "{", ")", '"', "'", "/*", "\n", "é𐐀", "end "]))
        text = text[:begin] + piece + text[end:]
    tokens = source.language.extract(text, source.path, {}).tokens
    assert replay(text, actions_of_file(replace(source, text=text), tokens, strategy, 0.0, task_of(strategy))) == text


@pytest.mark.parametrize("name", [param for param in BY_LANGUAGE if param.values != ("python",)])
def test_what_is_seen_without_the_rest_of_a_function_is_a_file_a_person_could_have(name: str) -> None:
    """Not so in Python: without brackets, a `try:` needs an `except` that is not there yet."""
    asked = [
        (source, question)
        for source, tokens in with_tokens(name)
        for question in seen(
            source.text, actions_of_file(source, tokens, StrategyConfig(context="PREVIOUS"), 0.0, completion.COMPLETION)
        )
    ]
    sample = random.Random(1).sample(asked, QUERIES)
    good = sum(fits(source.text, source.grammar, *question) for source, question in sample)
    assert good / QUERIES >= 0.95


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.parametrize("name", BY_LANGUAGE)
def test_the_controls_score_as_they_must(name: str, tmp_path: Path) -> None:
    files = json.dumps([source.path for source in sources(name)])
    recall = {}
    for engine in ("words", "oracle", "empty"):
        options = ["--set", f"actions.evaluationRoots={files}", "--set", "interpret.sessionsLimit=60"]
        options += ["--set", "project.dependencies=false", "--set", "interpret.sessionProbability=1", "--jobs", "1"]
        code, _, err = command("evaluate", CONFIGS[name], "--engine", engine, *options, "--output", tmp_path / engine)
        assert code == 0, err
        report = json.loads((tmp_path / engine / "reports" / "metrics.json").read_text())
        recall[engine] = report["evaluations"][0]["filters"]["ALL"]["metrics"]["Recall"]["value"]
    assert recall["oracle"] == 1.0
    assert recall["empty"] == 0.0
    assert 0 < recall["words"] < 1
