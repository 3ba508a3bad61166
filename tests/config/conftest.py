"""Shared by the tests of the configuration: a file with some content, and the message of a refusal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load

Write = Callable[..., Path]
Refusal = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(content, name="config.yaml")` is the path of a new file."""

    def written(content: str | bytes, name: str = "config.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@pytest.fixture
def refusal() -> Refusal:
    """`refusal(path, *overrides)` is the message with which loading fails."""

    def refused(path: Path | None, *overrides: str) -> str:
        with pytest.raises(ConfigError) as caught:
            load(path, overrides=overrides, environment={})
        return str(caught.value)

    return refused
