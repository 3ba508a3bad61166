"""Every nightly configuration loads, and pins what it downloads."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ci_eval.core.catalogs import engines, languages, rankers
from ci_eval.core.config import load
from ci_eval.core.workspace import Workspace
from tests.command import command

FOLDER = Path(__file__).parent.parent / "configs"
MODELS = [FOLDER / "code-review.yaml", FOLDER / "unit-tests.yaml"]
CALLS = FOLDER / "method-calls.yaml"
CONFIGS = sorted({*FOLDER.glob("*.yaml")} - {*MODELS, CALLS})
UNVERIFIED = sorted((FOLDER / "unverified").glob("*.yaml"))
EVERYWHERE = ("pypi", "npm", "maven", "go", "crate")
"""Registries that every runner reaches; `debian:` resolves against the machine's own package lists alone."""


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_nightly_configuration_is_complete(path: Path) -> None:
    loaded = load(path)
    assert loaded.warnings == ()
    assert loaded.config.language == path.stem
    assert "#sha256=" in loaded.config.project.spec
    assert loaded.config.project.spec.partition(":")[0] in EVERYWHERE
    assert loaded.config.language in languages.names()
    assert loaded.config.engine.name in engines.names()
    assert loaded.config.interpret.completion_type in rankers.names()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_night_of_a_baseline_says_so_in_every_headline(path: Path) -> None:
    config = load(path).config
    is_baseline = engines.CATALOG.load(config.engine.name).summary.startswith("baseline")
    assert is_baseline == ("baseline" in (config.reports.evaluation_title or ""))
    assert is_baseline == (config.language in {"php", "ruby", "rust"})


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_night_of_a_language_model_asks_nobody_until_it_is_given_one(path: Path) -> None:
    loaded = load(path)
    assert loaded.warnings == ()
    assert loaded.config.task == path.stem
    for named in (loaded.config.dataset.spec, loaded.config.engine.recorded):
        assert named is not None
        assert (FOLDER.parent / named).is_file()


def test_a_night_of_method_calls_has_its_histories_and_its_model() -> None:
    loaded = load(CALLS)
    assert loaded.warnings == ()
    assert loaded.config.task == CALLS.stem
    for named in (loaded.config.dataset.spec, loaded.config.engine.options["model"]):
        assert (FOLDER.parent / named).is_file()


@pytest.mark.registry
@pytest.mark.parametrize(
    ("path", "spec"), [(path, spec) for path in CONFIGS for spec in load(path).config.training_projects]
)
@pytest.mark.needs("go", "mvn", "npm")
def test_a_project_that_trains_has_sessions_of_its_language(path: Path, spec: str, tmp_path: Path) -> None:
    assert spec.partition(":")[0] in EVERYWHERE
    options = ("--project", spec, "--set", "interpret.sessionsLimit=50", "--output", tmp_path / "actions")
    code, _, said = command("actions", path, *options)
    assert code == 0, said
    assert list(Workspace.open(tmp_path / "actions").action_files())


@pytest.mark.parametrize("path", UNVERIFIED, ids=lambda path: path.stem)
def test_an_unverified_engine_has_a_baseline_beside_it_over_the_same_sessions(path: Path) -> None:
    one, other = load(path).config, load(FOLDER / path.name).config
    assert not engines.CATALOG.load(one.engine.name).verified
    assert other.engine.name == "words"
    # Only the baseline's title says what it is.
    reports = msgspec.structs.replace(other.reports, evaluation_title=None)
    assert msgspec.structs.replace(one, engine=other.engine) == msgspec.structs.replace(other, reports=reports)
