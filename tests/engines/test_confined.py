"""Confined, every verified engine answers as it does free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ci_eval import engines, languages, machine
from ci_eval.adapters import environments
from ci_eval.adapters.confinement import NOTHING_OPEN
from ci_eval.adapters.place import confinement_of
from ci_eval.contracts import Engine, Query, Running, Surroundings
from tests.engines.test_servers import FILES
from tests.needs import lack
from tests.projects import INFO

SAMPLES = Path(__file__).parent.parent / "languages" / "samples"
KNOWN = [engine for name in engines.names() if (engine := engines.CATALOG.load(name)).verified]
ASKED = [(engine, language) for engine in KNOWN for language in sorted(engine.languages or ())]
PLACES = 12

pytestmark = [pytest.mark.engine, pytest.mark.registry]


def answers(engine: Engine, surroundings: Surroundings, *paths: str) -> tuple[list[list[str]], str]:
    """What is suggested where tokens of files were, and how well the engine was confined."""
    running = engine.start(engine.install(None, surroundings.cache), surroundings)
    try:
        return [found for path in paths for found in _in_file(running, surroundings, path)], running.confined
    finally:
        running.close()


def _in_file(running: Running, surroundings: Surroundings, path: str) -> Iterator[list[str]]:
    text = (surroundings.root / path).read_text()
    tokens = languages.CATALOG.load(surroundings.language).extract(text, path, {}).tokens
    running.open(path, text)
    for token in tokens[:: len(tokens) // PLACES or 1]:
        running.edit([(token.offset, len(token.text), "")])
        answer = running.complete(Query(offset=token.offset, prefix="", expected=token.text))
        running.edit([(token.offset, 0, token.text)])
        yield sorted(each.text for each in answer.suggestions)


@pytest.mark.parametrize(("engine", "language"), ASKED, ids=lambda value: getattr(value, "name", value))
def test_a_confined_engine_answers_as_a_free_one(engine: Engine, language: str, tmp_path: Path) -> None:
    offered = confinement_of("auto")
    if not offered.endswith(NOTHING_OPEN):
        lack(f"here an engine is not fully confined: {offered}")
    (sample,) = SAMPLES.glob(f"{language}.*")
    (tmp_path / sample.name).write_text(sample.read_text())
    name, marked, expected = FILES[language]
    (tmp_path / name).write_text(marked.replace("|", expected))
    (tmp_path / "go.mod").write_text("module example\n\ngo 1.19\n")
    cache = machine.cache_folder()
    needs = environments.prepare(
        languages.CATALOG.load(language).dependencies, tmp_path, INFO, dependencies=False, cache=cache
    )
    free = Surroundings(
        root=tmp_path,
        language=language,
        keywords=frozenset(),
        cache=cache,
        timeout=60,
        memory=0,
        environment=needs.folder if needs else None,
        confine="off",
    )
    without, _ = answers(engine, free, sample.name, name)
    within, said = answers(engine, replace(free, confine="required"), sample.name, name)
    assert said.endswith(NOTHING_OPEN)
    assert any(within)
    assert within == without
