"""The ids of sessions in small files, as a commit before the work on grammars gave them (a2e1836f, November 2026).

Figures can be compared across versions only while the ids stay. `recorded/ids.txt` has a line per session: its file,
its id and its token.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.actions import Source
from ci_eval.core.catalogs import languages
from ci_eval.core.model import CallCompletion, StrategyConfig
from ci_eval.plugins.tasks import completion
from tests.actions.views import actions_of_file

FOLDER = Path(__file__).parent / "recorded"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.name != "ids.txt")
ADDED = {
    "php.php": ["string", "string", "float", "float", "string"],
    "typescript.ts": ["this"],
}
"""File → the tokens that it has got since: types that PHP has built in, and `this` as a type, are keywords."""


def sessions(name: str) -> dict[str, str]:
    """Return the ids of a file's sessions, each with its token."""
    path = FOLDER / name
    text, language = path.read_text(), languages.CATALOG.load(path.stem)
    tokens = language.extract(text, name, {}).tokens
    source = Source(project="recorded", path=name, text=text, language=language)
    actions = actions_of_file(source, tokens, StrategyConfig(), 0.0, completion.COMPLETION).actions
    return {action.session: action.expected_text for action in actions if isinstance(action, CallCompletion)}


def test_ids_of_all_ten_languages_are_recorded() -> None:
    lines = [line.split() for line in (FOLDER / "ids.txt").read_text().splitlines()]
    assert {file for file, _, _ in lines} == set(FILES)
    assert len(FILES) == 10


@pytest.mark.parametrize("name", FILES)
def test_ids_are_those_of_a_version_before(name: str) -> None:
    lines = [line.split() for line in (FOLDER / "ids.txt").read_text().splitlines()]
    recorded = {id_: text for file, id_, text in lines if file == name}
    today = sessions(name)
    assert {id_: text for id_, text in today.items() if id_ in recorded} == recorded
    assert [text for id_, text in today.items() if id_ not in recorded] == ADDED.get(name, [])
