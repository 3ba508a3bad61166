"""The keys of an endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import dump, load

ENGINE = "engine={endpoint: 'https://host/v1', model: m, api: completions, template: qwen, sampling: {seed: 3}}"


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("engine={endpoint: 'https://host/v1'}", "`engine.model` is missing"),
        ("engine={model: m}", "need an `endpoint`"),
        ("engine={endpoint: 'https://host', model: m, command: [x]}", "a command and an endpoint"),
        ("engine={endpoint: 'https://host', model: m, template: qwen}", "`engine.template` needs `api: completions`"),
        ("judge={model: m}", "`judge.endpoint` is missing"),
        ("judge={endpoint: 'https://host'}", "`judge.model` is missing"),
    ],
)
def test_what_does_not_fit_together_is_refused(override: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(None, overrides=[override])
    assert said in str(raised.value)


def test_a_key_in_place_of_its_name_is_refused_and_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("engine: {endpoint: 'https://host', model: m, key: sk-secret}")
    with pytest.raises(ConfigError, match=r"`engine\.key` is not the name") as raised:
        load(path)
    assert "sk-secret" not in str(raised.value)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    config = load(None, overrides=[ENGINE, "judge={endpoint: 'http://127.0.0.1:1', model: j}"]).config
    path = tmp_path / "config.yaml"
    path.write_text(dump(config))
    assert load(path).config == config


def test_of_another_engine_nothing_is_written_about_endpoints() -> None:
    assert "endpoint" not in dump(load(None).config)
