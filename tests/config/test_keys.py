"""The keys of a configuration, and the schema by which editors check them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import ci_eval
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config, dump, keys, load
from ci_eval.jobs.listings import schema

ROOT = Path(ci_eval.__file__).parents[1]
CONFIGS = sorted([*(ROOT / "configs").glob("**/*.yaml"), ROOT / "ci_eval" / "core" / "config" / "demo.yaml"])


@pytest.fixture(scope="module")
def validator() -> Any:
    found = schema("configuration")
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def loads(path: Path, text: str) -> bool:
    path.write_text(text)
    try:
        load(path, environment={})
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_configurations_here_keep_to_the_schema(path: Path, validator: Any) -> None:
    assert [error.message for error in validator.iter_errors(yaml.safe_load(path.read_text()))] == []


def test_the_defaults_keep_to_it(validator: Any) -> None:
    assert [error.message for error in validator.iter_errors(yaml.safe_load(dump(Config())))] == []


@pytest.mark.parametrize(
    "text",
    [
        "engine: jedi@0.19.2",
        "engine: {name: words, options: {a: [1]}}",
        "project: path:.",
        "reports: {sessionsFilters: ['kind=FIELD prefix=1', {name: Static, filters: {isStatic: true}}]}",
        "reports: {sessionsFilters: [3]}",
        "project: {spec: 'path:.', dependencies: true}",
        "interpret: {userModel: thesis, confine: off}",
        "interpret: {userModel: {profile: first, attend: 1}}",
        "interpret:",
        "judge: null",
        "actions: {strategy: {prefix: {name: Ladder, lengths: [0, 1]}}}",
        "reports: {sessionsFilters: [{name: a}]}",
        "engin: jedi",
        "interpret: {seed: a}",
        "interpret: {sessionProbability: 2}",
        "interpret: {confine: on}",
        "interpret: {userModel: nobody}",
        "actions: {strategy: {context: SOME}}",
        "reports: {sessionsFilters: [{}]}",
        "engine: 3",
        "engine: {command: []}",
    ],
)
def test_schema_and_loading_agree(text: str, tmp_path: Path, validator: Any) -> None:
    assert validator.is_valid(yaml.safe_load(text)) == loads(tmp_path / "c.yaml", text)


def test_every_key_has_a_meaning_and_can_be_set_to_its_default() -> None:
    found = list(keys())
    assert len({each.name for each in found}) == len(found)
    assert all(each.meaning and each.type for each in found)
    for each in found:
        if each.default and not each.name.startswith("judge."):
            load(None, overrides=[f"{each.name}={each.default}"])


def test_editors_offer_the_names_there_are(validator: Any) -> None:
    properties = validator.schema["$defs"]["Config"]["properties"]
    assert "typescript" in properties["language"]["anyOf"][0]["enum"]
    assert properties["language"]["description"].startswith("The name of a language")
    assert "jedi" in validator.schema["$defs"]["EngineConfig"]["properties"]["name"]["anyOf"][0]["enum"]
