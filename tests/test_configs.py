"""Every nightly configuration loads, and pins what it downloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval import engines, languages, rankers
from ci_eval.config import load

CONFIGS = sorted((Path(__file__).parent.parent / "configs").glob("*.yaml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_nightly_configuration_is_complete(path: Path) -> None:
    loaded = load(path)
    assert loaded.warnings == ()
    assert loaded.config.language == path.stem
    assert "#sha256=" in loaded.config.project.spec
    assert loaded.config.language in languages.names()
    assert loaded.config.engine.name in engines.names()
    assert loaded.config.interpret.completion_type in rankers.names()
