"""Where ci-eval keeps its cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.machine import cache_folder


def test_the_cache_is_where_the_variables_say_ours_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.delenv("CI_EVAL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path("/h/.cache/ci-eval")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/ci-eval")
    monkeypatch.setenv("CI_EVAL_CACHE", "~/mine")
    assert cache_folder() == Path("/h/mine")
