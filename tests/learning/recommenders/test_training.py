"""Options of training, and what there is nothing to learn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders.training import parse_options, train
from tests.learning.recommenders.trained import usage, write

PBN = recommenders.CATALOG.load("pbn")


def test_an_unknown_option_is_answered_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match=r"options of pbn: .*`t3`; known are methodContext, .*t1, t2, smoothing"):
        parse_options(PBN, {"t3": 1})
    with pytest.raises(ConfigError, match="options of rules"):
        parse_options(recommenders.CATALOG.load("rules"), {"antecedents": 9})


def test_usages_without_calls_teach_nothing(tmp_path: Path) -> None:
    source = write(tmp_path / "u.jsonl", [usage("")])
    source.write_bytes(source.read_bytes() + b"{}\n")
    with pytest.raises(NothingToEvaluate, match=r"no usage with a call .* 1 usages; the first of 1 bad lines: .*"):
        train(PBN, [source], tmp_path / "m", PBN.options())
    assert not (tmp_path / "m").exists()
