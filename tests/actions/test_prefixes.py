"""The prefixes at which completion is asked for."""

from __future__ import annotations

import pytest

from ci_eval.core.actions import longest_prefix
from ci_eval.core.model import (
    PrefixConfig,
)


@pytest.mark.parametrize(
    ("prefix", "typed"),
    [
        (PrefixConfig(), ""),
        (PrefixConfig(name="SimplePrefix", n=3), "get"),
        (PrefixConfig(name="SimplePrefix", n=99), "getElementById"),
        (PrefixConfig(name="CapitalizePrefix"), "gEBI"),
    ],
)
def test_the_prefix_is_what_the_strategy_says(prefix: PrefixConfig, typed: str) -> None:
    assert longest_prefix("getElementById", prefix) == typed
